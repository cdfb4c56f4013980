"""A trial in memory is saved and loaded: nothing is lost, and the file is a log like any other."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adhere import InputError, Recommendation, Trial
from adhere.design.make_design import make_design
from adhere.design.parts import Looks
from adhere.errors import ConflictError
from adhere.store import open_store
from adhere.trial.domain.commands import ChangeStatus, Correct, Look, Recommend, Report, Reveal
from adhere.trial.domain.events import Recommended
from adhere.trial.log.log_file import import_log
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import CommandProcessor, utc_now
from cli.running import in_this_process

from .live import send

ARMS = ("walk", "aspirin")


def a_trial(policy: str = "thompson/actual", **options: Any) -> Trial:
    """Feedback in every form and order, and some of it still to come."""
    trial = Trial(policy, ARMS, seed=3, name="headache", **options)
    for number in range(12):
        made = trial.recommend().id
        if number % 3 == 0:
            trial.report(made, actual="aspirin", reward=number % 2)
        elif number % 3 == 1:
            trial.report(made, reward=1)
    trial.report(id_of(trial, 2), took_nothing=True)
    trial.report(id_of(trial, 5), took_other="herbal tea", reward=0)
    return trial


def id_of(trial: Trial, index: int) -> str:
    return [event for event in trial.events if isinstance(event, Recommended)][index].recommendation_id


def rest_of(trial: Trial) -> list[Recommendation]:
    """What it does from here on, with the feedback that was still to come."""
    trial.report(id_of(trial, 1), actual="walk")
    trial.report(id_of(trial, 2), reward=1)
    return [trial.recommend() for _ in range(5)]


@pytest.mark.parametrize("policy", ["thompson/actual", "exp3", "hierarchical(ucb1, recycle=true)"])
def test_a_loaded_trial_goes_on_as_the_saved_one(policy: str, tmp_path: Path) -> None:
    trial = a_trial(policy, n_patients=100)
    trial.save(tmp_path / "headache.log")
    again = Trial.load(str(tmp_path / "headache.log"))
    assert (again.state, again.policy, again.arms, again.name) == (trial.state, trial.policy, ARMS, "headache")
    assert rest_of(again) == rest_of(trial)
    again.save(tmp_path / "again.log")
    assert Trial.load(tmp_path / "again.log").state == trial.state


def test_the_file_is_a_log_that_the_commands_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, file = str(tmp_path / "headache.log"), str(tmp_path / "adhere.db")
    trial = a_trial()
    trial.save(saved)
    for command, says in {
        ("verify", saved): "23 records, all as they were written",
        ("replay", saved): "12 recommendations derived again, arm and probabilities, all the same",
        ("explain", saved, id_of(trial, 5)): "herbal tea",
        ("import", saved, "--into", file): "headache",
        ("results", file): "12 recommendations (5 complete, 7 waiting, 0 lost to follow-up)",
    }.items():
        finished = in_this_process(capsys, "trial", *command)
        note = "note: the trial can be read but cannot continue live; " if command[0] == "import" else ""
        assert (finished.status, finished.err.startswith(note), bool(finished.err)) == (0, True, bool(note))
        assert says in finished.out


def test_a_trial_with_a_seed_takes_no_commands_in_a_store(tmp_path: Path) -> None:
    """Its next arms follow from the seed, which its first record contains: anybody could predict them."""
    trial = a_trial()
    trial.save(tmp_path / "headache.log")
    with closing(open_store(tmp_path / "trials.db")) as store:
        assert import_log(tmp_path / "headache.log", store, (), utc_now()) == ("headache", None)
        with store.reading() as view:
            before = view.head(1)
            assert verify(view, 1).secret == "seed"
            assert (replay(view, 1).difference, replay(view, 1).n_derived) == (None, 12)
        said: dict[str, Any] = {"trial": "headache", "site": ""}
        first = id_of(trial, 1)
        for command in (
            Recommend(request_id="a", subject="new", **said),
            Report(request_id="b", recommendation_id=first, actual="walk", **said),
            Correct(request_id="c", recommendation_id=first, reward=0.0, reason="slip", **said),
            ChangeStatus(request_id="d", status="closed", reason="over", **said),
            Reveal(request_id="e", reason="over", **said),
        ):
            with pytest.raises(ConflictError, match="cannot continue live: it was run in memory with a seed"):
                send(CommandProcessor(store), command)
        with store.reading() as view:
            assert view.head(1).position == before.position


def test_no_look_of_a_trial_with_a_seed_is_made_in_a_store(tmp_path: Path) -> None:
    design = make_design("t", "thompson", ARMS, n_patients=6, looks=Looks(days=(2.0,)))
    trial, start = Trial.from_design(design, seed=3), datetime(2026, 3, 1, tzinfo=UTC)
    trial.report(trial.recommend(at=start).id, reward=1, at=start)
    trial.save(tmp_path / "t.log")
    with closing(open_store()) as store:
        import_log(tmp_path / "t.log", store, (), utc_now())
        processor = CommandProcessor(store)
        processor.trial("t").engine.ensure_loaded()
        for command in (Look(trial="t", request_id=""), Recommend(trial="t", request_id="", subject="new")):
            with pytest.raises(ConflictError, match="cannot continue live"):
                send(processor, command)  # long after the day of the look
        with store.reading() as view:
            assert view.head(1).position == 3


def test_words_may_be_repeated_and_not_changed_and_are_kept(tmp_path: Path) -> None:
    trial = a_trial()
    trial.save(tmp_path / "headache.log")
    for same in (trial, Trial.load(tmp_path / "headache.log")):
        fifth = id_of(same, 5)
        same.report(fifth, took_other="herbal tea")
        with pytest.raises(InputError, match="took_other: conflicts with an earlier report: got other words"):
            same.report(fifth, took_other="camomile tea")


def test_saving_replaces_a_file_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "headache.log"
    a_trial().save(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"run.*got 2"):
        Trial("thompson", ARMS, run=2).save(path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["headache.log"]


def test_files_that_cannot_be_are_refused_by_what_is_wrong_with_them(tmp_path: Path) -> None:
    saved = tmp_path / "headache.log"
    a_trial().save(saved)
    changed = tmp_path / "changed.log"
    changed.write_text(saved.read_text().replace(r"\"reward\":1.0", r"\"reward\":0.0", 1))
    with pytest.raises(InputError, match=r"record \d+: its hash does not match"):
        Trial.load(changed)
    with pytest.raises(InputError, match=r"missing\.log.* no such file"):
        Trial.load(tmp_path / "missing.log")
    with pytest.raises(InputError, match="nowhere does not exist"):
        a_trial().save(tmp_path / "nowhere" / "headache.log")
    with pytest.raises(InputError, match="a file, not a folder"):
        a_trial().save(tmp_path)
    (tmp_path / "notes.txt").write_text("walk\n")
    with pytest.raises(InputError, match="that adhere trial export or"):
        Trial.load(tmp_path / "notes.txt")
