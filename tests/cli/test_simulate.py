"""`adhere simulate` when all is well."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import polars
import pytest

from adhere.simulation import SimulationResult, simulate

from .running import check_complaint, in_a_process, in_this_process

POLICIES = ("thompson", "uniform")
POPULATIONS = ("defiers", "stroke-heparin")
BOTH = (
    "simulate",
    *(word for name in POPULATIONS for word in ("--population", name)),
    *(word for text in POLICIES for word in ("--policy", text)),
)
SMALL = (*BOTH, "--patients", "50", "--runs", "20", "--seed", "3")


def strict_json(text: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_on_standard_output_is_all_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    finished = in_this_process(capsys, *SMALL, "--json", "-")
    assert finished.status == 0
    outcomes = strict_json(finished.out)
    assert [(one["population"], one["policy"]) for one in outcomes] == list(product(POPULATIONS, POLICIES))
    for one in outcomes:
        assert (one["n_patients"], one["n_runs"], one["seed"]) == (50, 20, "3")
        for measure in ("surplus", "realised_surplus", "regret"):
            assert set(one[measure]) == {"mean", "se", "low", "high"}
            assert one[measure]["low"] <= one[measure]["mean"] <= one[measure]["high"]
        assert sum(one["allocation"].values()) == pytest.approx(1.0)
    assert list(outcomes[-1]["allocation"]) == ["none", "low", "medium"]
    assert list(tmp_path.iterdir()) == []


def test_same_numbers_as_from_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.json"
    in_this_process(capsys, *SMALL, "--threads", "1", "--reference", "uniform", "--json", str(path))
    expected = simulate(POLICIES, POPULATIONS, 50, 20, seed=3, reference="uniform", n_threads=2)
    assert strict_json(path.read_text()) == strict_json(json.dumps(expected.to_json()))


def test_one_run_has_no_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.json"
    finished = in_this_process(capsys, *BOTH, "--patients", "50", "--runs", "1", "--json", str(path))
    for one in strict_json(path.read_text()):
        assert isinstance(one["surplus"]["mean"], float)
        assert one["surplus"]["se"] is one["surplus"]["low"] is one["surplus"]["high"] is None
    assert "1 run of 50 patients" in finished.out
    assert "[" not in finished.out


def test_table_in_a_pipe(tmp_path: Path) -> None:
    finished = in_a_process(*SMALL, cwd=tmp_path)
    assert finished.status == 0
    assert "20 runs of 50 patients, seed 3." in finished.out
    for word in (*POPULATIONS, *POLICIES, "surplus", "difference", "regret", "allocation", "medium"):
        assert word in finished.out
    assert re.search(r"-?\d+\.\d+ \[-?\d+\.\d+, -?\d+\.\d+\]", finished.out)
    assert "Sandercock" in finished.out  # the licence of the stroke data asks for the credit
    assert not re.search(r"[\x1b\u2500-\u257f]", finished.out)
    assert max(len(line) for line in finished.out.splitlines()) <= 80


def test_everything_can_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finished = in_this_process(capsys, *SMALL, "--save", str(tmp_path / "kept"))
    assert "surplus" in finished.out
    kept = SimulationResult.load(tmp_path / "kept")
    assert [one.policy for one in kept.outcomes] == [*POLICIES, *POLICIES]


def test_every_run_can_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix, read in ((".csv", polars.read_csv), (".parquet", polars.read_parquet)):
        path = tmp_path / f"runs{suffix}"
        finished = in_this_process(capsys, *SMALL, "--runs-to", str(path))
        said = finished.err.splitlines()[0]  # then come policies that are not compiled yet
        assert said == "keeping every run takes 4.2 kB of memory, a table of them as much again"
        table = read(path)
        expected = simulate(POLICIES, POPULATIONS, 50, 20, seed=3, keep_runs=True).runs.to_polars()
        assert table["surplus"].to_list() == expected["surplus"].to_list()
        assert table["policy"].to_list() == expected["policy"].to_list()


@pytest.mark.parametrize("name", ["runs.txt", "no/folder.csv", "out.csv"])
def test_where_runs_cannot_be_kept_is_said_before_the_start(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--runs-to", str(tmp_path / name), "--json", str(tmp_path / "out.csv"))
    check_complaint(in_this_process(capsys, *SMALL, *arguments), "--runs-to")
    assert list(tmp_path.iterdir()) == []


def test_no_result_replaces_the_population_it_is_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = tmp_path / "people.csv"
    people.write_text("chosen,actual,reward\nno,no,0\nyes,yes,1\n")
    asked = ("simulate", "--population", str(people), "--policy", "uniform", "--runs", "2", "--patients", "2")
    for option in ("--json", "--runs-to"):
        said = f"{option}: got '{people}', expected another file than {people}, which is read"
        check_complaint(in_this_process(capsys, *asked, option, str(people)), said)
    assert people.read_text().startswith("chosen")


def test_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from matplotlib.image import imread

    path = tmp_path / "out.png"
    in_this_process(capsys, *SMALL, "--plot", str(path))
    assert path.stat().st_size > 10_000
    pixels = imread(path)[:, :, :3]
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 500
    assert 0.01 < (pixels.min(axis=2) < 0.9).mean() < 0.5


OWN_POLICY = '''
from adhere.policies import Learner, choose, implements, learn, parameter, policy
from adhere.randomness import uniform

@policy("mostly-first")
class MostlyFirst(Learner):
    """The first arm, but for a share of the patients."""
    share: float = parameter(default=0.1, above=0, at_most=1)

@implements(choose, MostlyFirst)
def choose_first(rule, state, memo, weight, rng):
    return int(uniform(rng) * rule.n_arms) if uniform(rng) < rule.share else 0

@implements(learn, MostlyFirst)
def learn_nothing(rule, state, memo, arm, reward, weight, rng):
    pass
'''


@pytest.mark.slow
def test_a_policy_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "own.py").write_text(OWN_POLICY)
    policy = "mostly-first(share=0.2)"
    finished = in_a_process(
        "simulate", "--population", "defiers", "--import", "own.py", "--policy", policy, "--json", "-", cwd=tmp_path
    )
    assert finished.status == 0
    assert f"compiling {policy} (1 of 1, then kept on disk)…" in finished.err
    assert finished.err.endswith("note: own.py has not passed its check yet: adhere policies --check own.py\n")
    (outcome,) = strict_json(finished.out)
    assert outcome["policy"] == policy
    assert outcome["allocation"]["control"] == pytest.approx(0.9, abs=0.01)

    listed = in_a_process("policies", "--import", "own.py", "mostly-first", cwd=tmp_path)
    assert "The first arm, but for a share of the patients." in listed.out
    assert "a number above 0 and at most 1 (default 0.1)" in listed.out
