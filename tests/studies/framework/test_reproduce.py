"""A report is written whole, on all studies that are finished in its folder; finished studies are not run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adhere.errors import InputError
from adhere.simulation import simulate
from adhere.studies.framework import reproduce as module
from adhere.studies.framework import study_cache
from adhere.studies.framework.reproduce import Reproduction, reproduce
from studies.small_studies import BOTH, WHOLE, contents, counted, simulated


@pytest.fixture
def simulations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seed of every simulation that is run."""
    seeds: list[int] = []

    def noted(*, seed: int, **rest: Any) -> Any:
        seeds.append(seed)
        return simulate(seed=seed, **rest)

    monkeypatch.setattr(module, "simulate", noted)
    return seeds


def names(done: Reproduction) -> list[str]:
    return [section.name for section in done.sections]


def test_what_a_run_leaves(tmp_path: Path) -> None:
    done = reproduce(tmp_path / "report", BOTH, seed=7)
    assert set(contents(tmp_path / "report")) == WHOLE
    assert not (tmp_path / "report" / ".unfinished").exists()
    assert done.page == tmp_path / "report" / "index.html"
    assert done.resumed == ()
    page = done.page.read_text()
    for section in done.sections:
        assert section.result in page
        assert section.claims[0].statement in page
    run = json.loads((tmp_path / "report" / "run.json").read_text())
    assert (run["settings"]["seed"], run["settings"]["quick"]) == (7, False)
    assert set(run["seconds"]) == {"simulated", "counted"}
    assert 0 < sum(run["seconds"].values()) < run["whole_run_seconds"] < done.seconds
    assert run["machine"] in page


def test_a_second_run_simulates_nothing_and_reports_the_same(tmp_path: Path, simulations: list[int]) -> None:
    first = reproduce(tmp_path, BOTH)
    before = contents(tmp_path)
    second = reproduce(tmp_path, BOTH)
    after = contents(tmp_path)
    assert simulations == [0]
    assert second.resumed == ("simulated", "counted")
    assert [section.result for section in second.sections] == [section.result for section in first.sections]
    assert set(after) == WHOLE
    told_of_the_run = {"index.html", "run.json"}
    assert [name for name in before if before[name] != after[name] and name not in told_of_the_run] == []
    # How long a study took is still known when it was not run again.
    seconds = [json.loads(files["run.json"])["seconds"] for files in (before, after)]
    assert seconds[0] == seconds[1]


def test_other_settings_run_anew(tmp_path: Path, simulations: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(tmp_path, BOTH)
    data = contents(tmp_path / "data")
    assert reproduce(tmp_path, BOTH, seed=1).resumed == ()
    other_seed = contents(tmp_path / "data")
    on_top = "<strong>This is a quick run, with a tenth of the runs"
    assert on_top not in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert reproduce(tmp_path, BOTH, seed=1, quick=True).resumed == ()
    assert on_top in (tmp_path / "index.html").read_text(encoding="utf-8")
    quick = contents(tmp_path / "data")
    assert len({files["simulated/final.csv"] for files in (data, other_seed, quick)}) == 3
    assert [int(files["simulated/size.csv"].split()[1]) for files in (data, other_seed, quick)] == [3072, 3072, 307]
    monkeypatch.setattr(study_cache, "version", lambda _: "99")
    assert reproduce(tmp_path, BOTH, seed=1, quick=True).resumed == ()
    monkeypatch.setattr(study_cache, "sources_digest", lambda: "other")
    assert reproduce(tmp_path, BOTH, seed=1, quick=True).resumed == ()
    assert simulations == [0, 1, 1, 1, 1]
    assert reproduce(tmp_path, BOTH, seed=1, quick=True).resumed == ("simulated", "counted")


def test_fresh_runs_all_anew(tmp_path: Path, simulations: list[int]) -> None:
    reproduce(tmp_path, BOTH)
    data = contents(tmp_path / "data")
    assert reproduce(tmp_path, BOTH, fresh=True).resumed == ()
    assert simulations == [0, 0]
    assert contents(tmp_path / "data") == data


def test_one_study_after_another_in_the_order_of_the_catalogue(tmp_path: Path, simulations: list[int]) -> None:
    assert names(reproduce(tmp_path, BOTH[1:], catalogue=BOTH)) == ["counted"]
    done = reproduce(tmp_path, BOTH[:1], catalogue=BOTH)
    assert names(done) == ["simulated", "counted"]
    assert done.resumed == ("counted",)
    assert set(contents(tmp_path)) == WHOLE
    # Starting one over leaves the other in the report.
    assert names(reproduce(tmp_path, BOTH[1:], catalogue=BOTH, fresh=True)) == ["simulated", "counted"]
    assert simulations == [0]


def test_a_study_of_other_settings_leaves_with_its_files(tmp_path: Path) -> None:
    reproduce(tmp_path, BOTH)
    assert names(reproduce(tmp_path, BOTH[1:], catalogue=BOTH, seed=1)) == ["counted"]
    assert set(contents(tmp_path)) == {name for name in WHOLE if "simulated" not in name}
    assert not (tmp_path / "data" / "simulated").exists()


def test_stopped_in_the_second_study_a_rerun_resumes_after_the_first(tmp_path: Path, simulations: list[int]) -> None:
    out = tmp_path / "report"
    with pytest.raises(KeyboardInterrupt):
        reproduce(out, [*BOTH, simulated("last", after=_stop)])
    assert sorted(path.name for path in out.iterdir()) == [".unfinished"]
    done = reproduce(out, [*BOTH, simulated("last")])
    assert done.resumed == ("simulated", "counted")
    assert names(done) == ["simulated", "counted", "last"]
    assert simulations == [0, 0, 0]
    assert set(json.loads((out / "run.json").read_text())["seconds"]) == {"simulated", "counted", "last"}
    assert not (out / ".unfinished").exists()


def test_what_an_interrupted_run_finished_is_in_the_next_report_whatever_was_asked(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, [BOTH[0], simulated("last", after=_stop)])
    assert names(reproduce(tmp_path, [BOTH[1]], catalogue=BOTH)) == ["simulated", "counted"]


def test_what_an_interrupted_run_with_other_settings_finished_is_dropped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, [BOTH[0], simulated("last", after=_stop)], quick=True)
    assert names(reproduce(tmp_path, [BOTH[1]], catalogue=BOTH)) == ["counted"]
    assert not (tmp_path / ".unfinished").exists()


def test_fresh_after_an_interrupted_run(tmp_path: Path, simulations: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, [BOTH[0], simulated("last", after=_stop)])
    assert reproduce(tmp_path, BOTH, fresh=True).resumed == ()
    assert simulations == [0, 0, 0]


def test_stopped_before_any_study_is_finished_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path / "report", [simulated(after=_stop)])
    assert list(tmp_path.iterdir()) == []


def _stop() -> None:
    raise KeyboardInterrupt


def test_stopped_while_drawing_the_old_report_stands(tmp_path: Path, simulations: list[int]) -> None:
    reproduce(tmp_path, BOTH)
    old = contents(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, [simulated(), counted(drawing=_stop)], seed=1)
    now = contents(tmp_path)
    assert {name: now[name] for name in old} == old
    assert reproduce(tmp_path, BOTH, seed=1).resumed == ("simulated", "counted")
    assert simulations == [0, 1]


@pytest.mark.parametrize("n_moved", range(15))
def test_stopped_while_the_report_is_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulations: list[int], n_moved: int
) -> None:
    reproduce(tmp_path, [*BOTH, counted("gone")])
    left, replace_path = [n_moved], Path.replace

    def stop_later(path: Path, target: Path) -> Path:
        if ".unfinished" not in target.parts:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
        return replace_path(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stop_later)
        if n_moved < len(WHOLE):
            with pytest.raises(KeyboardInterrupt):
                reproduce(tmp_path, BOTH, seed=1)
            assert not (tmp_path / "index.html").exists()
        else:
            reproduce(tmp_path, BOTH, seed=1)
    done = reproduce(tmp_path, BOTH, seed=1)
    assert done.resumed == ("simulated", "counted")
    assert simulations == [0, 1]
    assert set(contents(tmp_path)) == WHOLE


@pytest.mark.parametrize("where", [".unfinished", "data"])
def test_a_damaged_study_runs_again(tmp_path: Path, simulations: list[int], where: str) -> None:
    if where == "data":
        reproduce(tmp_path, BOTH)
    else:
        with pytest.raises(KeyboardInterrupt):
            reproduce(tmp_path, [*BOTH, counted("last", drawing=_stop)])
    damaged = tmp_path / where / "simulated" / "final.parquet"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    assert reproduce(tmp_path, BOTH).resumed == ("counted",)
    assert simulations == [0, 0]
    assert (tmp_path / "data" / "simulated" / "final.parquet").read_bytes() == whole


@pytest.mark.parametrize(("field", "wrong"), [("seed", -1), ("seed", 0.5), ("n_threads", 0), ("n_threads", 2000)])
def test_a_wrong_number_is_refused_even_if_nothing_is_simulated(tmp_path: Path, field: str, wrong: Any) -> None:
    with pytest.raises(InputError, match=f"{field}: got {wrong}"):
        reproduce(tmp_path / "report", BOTH[1:], **{field: wrong})
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_threads_reaches_the_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def noted(*, n_threads: int | None, **rest: Any) -> Any:
        asked.append(n_threads)
        return simulate(n_threads=n_threads, **rest)

    monkeypatch.setattr(module, "simulate", noted)
    reproduce(tmp_path, BOTH, n_threads=1)
    reproduce(tmp_path, BOTH, fresh=True)
    assert asked == [1, None]


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from studies.small_studies import counted, simulated
from adhere.studies.framework.reproduce import reproduce
reproduce(Path(sys.argv[2]), [simulated(), counted()], n_threads=1)
"""


def test_the_same_bytes_whatever_the_number_of_threads(tmp_path: Path) -> None:
    out = tmp_path / "one thread"
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parents[2]), str(out)]
    subprocess.run(command, env={**os.environ, "POLARS_MAX_THREADS": "1"}, check=True, capture_output=True)
    reproduce(tmp_path / "two", BOTH, n_threads=2)
    one, two = contents(out), contents(tmp_path / "two")
    assert set(one) == set(two) == WHOLE
    assert [name for name in one if one[name] != two[name] and name not in ("index.html", "run.json")] == []
