"""After a restore, reports meant for lost recommendations reach nobody, and lost arms are not drawn again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from adhere.cli.main import main
from adhere.design.make_design import make_design
from adhere.errors import InputError, UnknownError
from adhere.store import open_store
from adhere.trial.domain.commands import Receipt, Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import EpochBegun, Recommended, decode
from adhere.trial.domain.history import history_of
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import CommandProcessor

N_RECOMMENDATIONS, N_IN_BACKUP = 821, 339
AT_ONCE = 50


def adhere(*arguments: object) -> None:
    """Run a command, which must succeed."""
    assert main(tuple(map(str, arguments))) == 0


class Asked(NamedTuple):
    """A patient as a client remembers them: what it asked for, and what it was answered."""

    subject: int
    recommendation_id: str
    given: str  # the arm, or the kit of a blinded trial


@contextmanager
def running(file: Path) -> Iterator[CommandProcessor]:
    with closing(open_store(file)) as store:
        yield CommandProcessor(store)


def recommend(processor: CommandProcessor, subjects: list[int]) -> list[Asked]:
    """Recommend for subjects under the request ids that a client keeps; the same again after a restore."""
    found: list[Asked] = []
    for first in range(0, len(subjects), AT_ONCE):
        some = subjects[first : first + AT_ONCE]
        asked = [Recommend(trial="t", request_id=f"r-{one}", site="Leeds", subject=f"S-{one}") for one in some]
        for subject, answer in zip(some, processor.execute(asked), strict=True):
            assert isinstance(answer, RecommendationResponse)
            found.append(Asked(subject, answer.recommendation_id, answer.arm or answer.kit or ""))
    return found


def report(processor: CommandProcessor, patients: list[Asked]) -> tuple[int, list[InputError]]:
    """Report an outcome of each patient that nobody else has; return how many were recorded, and the refusals."""
    n_recorded, refused = 0, []
    for first in range(0, len(patients), AT_ONCE):
        sent = [
            Report(
                trial="t",
                request_id=f"o-{one.subject}",
                site="Leeds",
                recommendation_id=one.recommendation_id,
                actual=one.given,
                reward=outcome_of(one.subject),
            )
            for one in patients[first : first + AT_ONCE]
        ]
        for answer in processor.execute(sent):
            if isinstance(answer, InputError):
                refused.append(answer)
            else:
                assert isinstance(answer, Receipt)
                n_recorded += 1
    return n_recorded, refused


def outcome_of(subject: int) -> float:
    return subject / 1000


def n_misfiled(file: Path) -> int:
    """How many outcomes stand under another patient than the one they were reported for."""
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        trial = view.trials()["t"]
        who = {subject.key: int(subject.pseudonym.rpartition("-")[2]) for subject in view.subjects(trial)}
        wrong, index = 0, 0
        while bodies := view.histories(trial, [index]).get(index):
            made, known = decode(bodies[0]), history_of(map(decode, bodies))
            assert isinstance(made, Recommended)
            wrong += known.reward is not None and known.reward.value != outcome_of(who[made.subject])
            index += 1
        return wrong


def events(file: Path) -> list[object]:
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        return [decode(record.body) for record in walk(view, view.trials()["t"])]


@pytest.mark.parametrize("blinded", [False, True], ids=["open", "blinded"])
@pytest.mark.parametrize("way", ["adhere trial restore", "cp"])
def test_no_report_reaches_another_patient(tmp_path: Path, way: str, blinded: bool) -> None:
    """821 recommendations, 339 of them in the backup; then everything is sent again, in another order."""
    file, backup = tmp_path / "adhere.db", tmp_path / "backup.db"
    design = make_design("t", "floor(thompson)", ["walk", "aspirin"], blinded=blinded)
    with running(file) as processor:
        processor.create(design)
        kept = recommend(processor, list(range(N_IN_BACKUP)))
        adhere("trial", "backup", file, backup)
        lost = recommend(processor, list(range(N_IN_BACKUP, N_RECOMMENDATIONS)))
    if way == "cp":  # as our docs advise against: all that belongs to the old file is moved away first
        for old in tmp_path.glob("adhere.db*"):
            old.rename(tmp_path / f"old-{old.name}")
        shutil.copy(backup, file)
    else:
        adhere("trial", "restore", backup, "--into", file, "--replace")

    subjects = [one.subject for one in lost]
    random.Random(4).shuffle(subjects)
    with running(file) as processor:
        again = recommend(processor, subjects)
        everything = [*kept, *lost]
        random.Random(5).shuffle(everything)
        n_recorded, refused = report(processor, everything)

    assert n_misfiled(file) == 0
    assert n_recorded == N_IN_BACKUP
    assert len(refused) == len(lost)
    assert all(isinstance(error, UnknownError) for error in refused)
    assert "do not send it again" in str(refused[0])
    assert not {one.recommendation_id for one in again} & {one.recommendation_id for one in everything}
    assert [type(event) for event in events(file)].count(EpochBegun) == 1
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        trial = view.trials()["t"]
        assert verify(view, trial).fault is None
        result = replay(view, trial)
        assert result.difference is None
        assert result.n_derived == N_RECOMMENDATIONS
    if blinded:
        assert not {one.given for one in again} & {one.given for one in lost}
    else:  # two arms at even odds: by the same secret every arm would come out again
        before = {one.subject: one.given for one in lost}
        in_order = zip(lost, again, strict=True)  # what was drawn at the same index before and now
        agree = sum(first.given == second.given for first, second in in_order) / len(lost)
        assert 0.4 < agree < 0.6
        assert len(before) == len(lost)


def test_a_kit_that_was_lost_is_a_kit_of_nobody(tmp_path: Path) -> None:
    file, backup = tmp_path / "adhere.db", tmp_path / "backup.db"
    with running(file) as processor:
        processor.create(make_design("t", "uniform", ["walk", "aspirin"], blinded=True))
        (known,) = recommend(processor, [0])
        adhere("trial", "backup", file, backup)
        (lost,) = recommend(processor, [1])
    adhere("trial", "restore", backup, "--into", file, "--replace")
    with running(file) as processor:
        recommend(processor, [2])  # which has the index that was lost
        taken = Report(
            trial="t", request_id="k", site="Leeds", recommendation_id=known.recommendation_id, actual=lost.given
        )
        (answer,) = processor.execute([taken])
    assert isinstance(answer, InputError)
    assert answer.field == "kit"


def test_two_restores_of_one_backup_give_out_nothing_twice(tmp_path: Path) -> None:
    """The same indices come a third time, in the second epoch again: neither IDs nor kits may come again."""
    file, backup = tmp_path / "adhere.db", tmp_path / "backup.db"
    with running(file) as processor:
        processor.create(make_design("t", "uniform", ["walk", "aspirin"], blinded=True))
        recommend(processor, list(range(5)))
        adhere("trial", "backup", file, backup)
        given = [recommend(processor, list(range(5, 25)))]
    for _ in range(2):
        adhere("trial", "restore", backup, "--into", file, "--replace")
        with running(file) as processor:
            given.append(recommend(processor, list(range(5, 25))))
            lost = [one for branch in given[:-1] for one in branch]
            for number, one in enumerate(lost):
                taken = Report(
                    trial="t",
                    request_id=f"k-{number}",
                    site="Leeds",
                    recommendation_id=given[-1][0].recommendation_id,
                    actual=one.given,
                )
                (answer,) = processor.execute([taken])
                assert isinstance(answer, InputError)
                assert answer.field == "kit"
    codes = [one.given for branch in given for one in branch]
    ids = [one.recommendation_id for branch in given for one in branch]
    assert len(set(codes)) == len(set(ids)) == 60


def test_an_imported_log_may_be_old_and_begins_an_epoch(tmp_path: Path) -> None:
    file, other = tmp_path / "adhere.db", tmp_path / "other.db"
    log, secrets = tmp_path / "t.log", tmp_path / "t.secrets"
    with running(file) as processor:
        processor.create(make_design("t", "thompson", ["walk", "aspirin"]))
        recommend(processor, [0])
    adhere("trial", "export", file, log, "--secrets", secrets)
    with running(file) as processor:
        (since,) = recommend(processor, [1])
    adhere("trial", "import", log, "--into", other, "--secrets", secrets)
    with running(other) as processor:
        recommend(processor, [2])
        _, (refusal,) = report(processor, [since])
    assert isinstance(refusal, UnknownError)
    assert isinstance(events(other)[2], EpochBegun)
