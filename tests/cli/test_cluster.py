"""`adhere simulate --cluster`: the numbers of one machine, and a sentence for whatever is wrong with a cluster."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

import adhere
from adhere.simulation.execution import cluster
from simulation.dask_processes import DaskProcesses, dask_processes

from .running import check_complaint, in_a_process, in_this_process
from .test_interrupt import COMMAND, STOPPED, interrupt
from .test_simulate import OWN_POLICY

SMALL = ("simulate", "--population", "defiers", "--policy", "thompson", "--patients", "50", "--runs", "200")


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    with dask_processes(tmp_path_factory.mktemp("dask"), "first", "second") as processes:
        yield processes


def test_the_numbers_of_one_machine(dask: DaskProcesses, capsys: pytest.CaptureFixture[str]) -> None:
    command = (*SMALL, "--policy", "uniform", "--json", "-")
    there = in_this_process(capsys, *command, "--cluster", dask.address)
    assert (there.status, there.err) == (0, "")
    assert there == in_this_process(capsys, *command)


@pytest.mark.slow
def test_a_policy_of_ones_own_whose_error_is_one_sentence(dask: DaskProcesses, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(OWN_POLICY.replace("else 0", "else 7"))
    command = (*SMALL, "--policy", "mostly-first", "--import", "wrong.py", "--cluster", dask.address)
    check_complaint(in_a_process(*command, cwd=tmp_path), "mostly-first failed at wrong.py line 12: choose returns 7")


@pytest.mark.slow
def test_a_bar_and_ctrl_c(dask: DaskProcesses, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    options = ("--population", "defiers", "--policy", "uniform", "--patients", "10000", "--runs", "10000000")
    with subprocess.Popen(
        [*COMMAND, *options, "--json", "out.json", "--cluster", dask.address],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        shown, deadline = "", time.monotonic() + 60
        while not re.search(r"simulating .* 0% +[1-9]\d*\.\d M patients/s .*\d:\d\d", shown):
            assert time.monotonic() < deadline
            shown += os.read(ours, 4096).decode(errors="replace")
        interrupt(process)
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert STOPPED in os.read(ours, 65536).decode(errors="replace")
    os.close(ours)
    assert list(tmp_path.iterdir()) == []
    # The cluster is free again: nobody has to wait for what was interrupted.
    assert in_this_process(capsys, *SMALL, "--cluster", dask.address).status == 0


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_ctrl_c_in_a_terminal_where_the_cluster_runs_too(tmp_path: Path, seconds: float) -> None:
    """The whole group is interrupted: scheduler and workers end while the command does."""
    terminal = [sys.executable, "-m", "cli.terminal_with_cluster", str(tmp_path), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        terminal, env=environment, stdout=subprocess.PIPE, timeout=300, check=True, start_new_session=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["status"], found["said"]) == (130, f"{STOPPED}\n")
    assert found["seconds"] < 20


@pytest.mark.slow
def test_a_cluster_that_would_give_other_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Found out by the command line before the first task, and by any worker at its first."""
    package = Path(adhere.__file__).parent
    shutil.copytree(package, tmp_path / "other" / "adhere", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "other" / "adhere" / "randomness.py").open("a") as file:
        file.write("# another adhere\n")
    with dask_processes(tmp_path) as dask:
        command = (*SMALL, "--cluster", dask.address)
        named = f"--cluster: got '{dask.address}'"
        check_complaint(in_this_process(capsys, *command), named, "at least one worker")
        for path, says, said_by_worker in (
            (dask.without_adhere, "has none (ModuleNotFoundError", "a worker that says: No module named 'adhere'"),
            (tmp_path / "other", "has adhere's sources ", "a worker with adhere's sources "),
        ):
            dask.add(path.name, first_on_path=path)
            finished = in_this_process(capsys, *command)
            check_complaint(finished, named, "workers with the same adhere as here, but tcp:", says)
            with (
                Client(dask.address, set_as_default=False) as client,  # type: ignore[no-untyped-call]
                pytest.raises(adhere.InputError, match=f"^executor: got .{said_by_worker}"),
            ):
                adhere.simulate("uniform", "defiers", 10, 10, executor=client.get_executor())
            dask.kill(path.name)


@pytest.mark.parametrize(
    "address",
    ["", "here", "127.0.0.1", "tcp://127.0.0.1", "tcp://127.0.0.1:0", "tcp://127.0.0.1:port", "http://127.0.0.1:8786",
     "tcp://127.0.0.1:8786/path", "tcp://127.0.0.1:99999", "tcp://[::1:8786", "tcp://:8786"],
)  # fmt: skip
def test_what_is_no_address(capsys: pytest.CaptureFixture[str], address: str) -> None:
    finished = in_this_process(capsys, *SMALL, "--cluster", address)
    check_complaint(finished, f"--cluster: got '{address}', expected the address of a Dask scheduler, e.g. tcp://")


@pytest.mark.slow
@pytest.mark.parametrize("listens", [False, True], ids=["nobody", "somebody else"])
def test_nobody_answers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, listens: bool) -> None:
    monkeypatch.setattr(cluster, "_SECONDS_TO_CONNECT", 1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if listens:
            other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        finished = in_this_process(capsys, *SMALL, "--cluster", address)
    check_complaint(finished, f"--cluster: got '{address}'", "none answered within 1 seconds")


def test_an_address_that_needs_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    finished = in_this_process(capsys, *SMALL, "--cluster", "tls://127.0.0.1:8786")
    check_complaint(finished, "--cluster: got 'tls://127.0.0.1:8786'", "certificates")


def test_without_dask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    finished = in_this_process(capsys, *SMALL, "--cluster", "tcp://127.0.0.1:8786")
    check_complaint(finished, "--cluster: got 'tcp://127.0.0.1:8786'", "pip install 'adhere[cluster]'")


def test_a_cluster_and_threads_are_a_contradiction(capsys: pytest.CaptureFixture[str]) -> None:
    finished = in_this_process(capsys, *SMALL, "--cluster", "tcp://127.0.0.1:8786", "--threads", "2")
    check_complaint(finished, "--threads: got 2, expected no number together with --cluster")
