"""A trial in memory is saved and loaded: nothing is lost, and the file is a log like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adhere import InputError, Recommendation, Trial
from cli.running import in_this_process

ARMS = ("walk", "aspirin")


def a_trial(policy: str = "thompson/actual", **options: Any) -> Trial:
    """Feedback in every form and order, and some of it still to come."""
    trial = Trial(policy, ARMS, seed=3, name="headache", **options)
    for number in range(12):
        trial.recommend()
        if number % 3 == 0:
            trial.report(number, actual="aspirin", reward=number % 2)
        elif number % 3 == 1:
            trial.report(number, reward=1)
    trial.report(2, took_nothing=True)
    trial.report(5, took_other="herbal tea", reward=0)
    return trial


def rest_of(trial: Trial) -> list[Recommendation]:
    """What it does from here on, with the feedback that was still to come."""
    trial.report(1, actual="walk")
    trial.report(2, reward=1)
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


def test_the_file_is_a_log_that_the_commands_read_and_a_service_goes_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, file = str(tmp_path / "headache.log"), str(tmp_path / "adhere.db")
    a_trial().save(saved)
    for command, says in {
        ("verify", saved): "23 records, all as they were written",
        ("replay", saved): "12 recommendations derived again, all the same",
        ("explain", saved, "5"): "herbal tea",
        ("import", saved, "--into", file): "headache",
        ("results", file): "12 recommendations (5 reported in full, 7 open, 0 lost to follow-up)",
    }.items():
        finished = in_this_process(capsys, "trial", *command)
        assert (finished.status, finished.err) == (0, "")
        assert says in finished.out


def test_words_may_be_repeated_and_not_changed_and_are_kept(tmp_path: Path) -> None:
    trial = a_trial()
    trial.save(tmp_path / "headache.log")
    for same in (trial, Trial.load(tmp_path / "headache.log")):
        same.report(5, took_other="herbal tea")
        with pytest.raises(InputError, match="'herbal tea', as reported before for recommendation 5"):
            same.report(5, took_other="camomile tea")


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
    with pytest.raises(InputError, match=r"record \d+: its hash does not fit"):
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
