"""`adhere policies`, `adhere populations`, `--help` and `--version`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adhere
from adhere.policies import parse_policy
from adhere.policies.base.registry import registry
from adhere.populations import as_population, built_in_populations, describe

from .running import in_a_process, in_this_process


def test_every_policy_is_listed_with_an_example_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    lines = in_this_process(capsys, "policies").out.splitlines()
    for name in registry:
        assert name in lines
    examples = [line.split("e.g. ")[1] for line in lines if line.startswith("    e.g. ")]
    assert len(examples) == len(registry)
    for name, example in zip(sorted(registry), examples, strict=True):
        assert parse_policy(example).name == name
    assert any("intention-to-treat" in line for line in lines)


@pytest.mark.parametrize("name", [name for name, cls in registry.items() if cls.__module__.startswith("adhere.")])
def test_every_policy_is_explained(capsys: pytest.CaptureFixture[str], name: str) -> None:
    finished = in_this_process(capsys, "policies", name.upper())
    assert finished.status == 0
    assert finished.out.startswith(f"{name}, a ")
    assert "Parameters\n" in finished.out
    assert "Reference" in finished.out or name in ("always", "uniform")


def test_parameters_with_ranges_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert "gamma  a number above 0 and at most 1 (optional)" in in_this_process(capsys, "policies", "exp3").out
    hierarchical = in_this_process(capsys, "policies", "hierarchical").out
    assert "recycle  true or false (default false)" in hierarchical
    assert "(default exp3)" in hierarchical
    assert " `share`.\n" in in_this_process(capsys, "policies", "floor").out  # and what they mean
    bounded = in_this_process(capsys, "policies", "thompson-bounded").out
    assert "inner    a policy, e.g. thompson-bounded(hierarchical(thompson)) (required)" in bounded


def test_populations(capsys: pytest.CaptureFixture[str]) -> None:
    listed = in_this_process(capsys, "populations").out
    for name, description in built_in_populations().items():
        assert name in listed
        assert description in listed
    described = in_this_process(capsys, "populations", "rich-and-poor").out
    assert described == describe(as_population("rich-and-poor")) + "\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    finished = in_this_process(capsys, "--version")
    assert (finished.status, finished.out) == (0, f"adhere {adhere.__version__}\n")


def test_help_shows_how_to_quote(capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, "simulate", "--help").out
    assert "'hierarchical(thompson, top=exp3(gamma=0.1))'" in shown
    assert "quotes" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    for command in ("policies", "populations"):
        assert f"adhere {command}" in in_this_process(capsys, command, "--help").out


def test_without_a_command_help_is_shown(tmp_path: Path) -> None:
    finished = in_a_process(cwd=tmp_path)
    assert finished.status == 0
    for command in ("simulate", "policies", "populations"):
        assert command in finished.out


def test_the_installed_command() -> None:
    command = shutil.which("adhere", path=Path(sys.executable).parent)
    assert command is not None
    assert subprocess.run([command, "--version"], capture_output=True, check=True).stdout.startswith(b"adhere ")


def test_a_reader_that_leaves_early(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "adhere", "policies"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_guards_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("floor", "burn-in"):
        assert in_this_process(capsys, "policies", name).out.startswith(f"{name}, a guard\n")
