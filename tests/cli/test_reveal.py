"""adhere trial reveal: before it a log is checked by its probabilities; after it anybody draws every arm again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import ChangeStatus, Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import Revealed, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.writing.processor import CommandProcessor
from trial.live import SECRET, send

from .running import check_complaint, in_this_process

N = 5
KEPT = "its secret is kept here, and is the one committed to; whoever has only the log cannot draw its arms"
REASON = ("--reason", "the last assessor was unblinded")


@contextmanager
def running(file: Path) -> Iterator[CommandProcessor]:
    with closing(open_store(file)) as store:
        yield CommandProcessor(store)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An open trial with some patients, and another trial."""
    path = tmp_path / "adhere.db"
    with running(path) as processor:
        processor.create(make_design("headache", "thompson/actual", ["walk", "aspirin"]), secret=SECRET)
        processor.create(make_design("migraine", "ucb1", ["walk", "aspirin"]))
        for n in range(N):
            made = send(processor, Recommend(trial="headache", request_id=f"q{n}", site="Leeds", subject=f"p{n}"))
            assert isinstance(made, RecommendationResponse)
            told = {"recommendation_id": made.recommendation_id, "actual": "walk", "reward": float(n % 2)}
            send(processor, Report(trial="headache", request_id=f"r{n}", **told))  # type: ignore[arg-type]
    return path


def close(file: Path) -> None:
    with running(file) as processor:
        send(processor, ChangeStatus(trial="headache", request_id="c", status="closed", reason="as planned"))


def said_of_log(file: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What `verify` and `replay` say to somebody who was sent the exported log."""
    log = file.with_name("headache.log")
    assert in_this_process(capsys, "trial", "export", str(file), str(log), "--trial", "headache").status == 0
    done = [in_this_process(capsys, "trial", command, str(log)) for command in ("verify", "replay")]
    assert [(one.status, one.err) for one in done] == [(0, "")] * 2
    return done[0].out, done[1].out


def test_the_secret_of_a_closed_trial_is_revealed_and_every_arm_drawn_again(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verified, replayed = said_of_log(file, capsys)
    assert (
        "its secret is not revealed: 'adhere trial replay' checks every probability, and draws no arm\n" in verified
    )
    assert replayed.startswith(
        f"headache: {2 * N + 1} records\n{N} recommendations checked by probabilities, all the"
    )
    assert "arms were not drawn again: the secret that draws them is not revealed, and not kept here" in replayed
    assert "derived again" not in replayed
    close(file)
    assert said_of_log(file, capsys)[1].startswith(f"headache: {2 * N + 2} records\n{N} recommendations checked by")
    done = in_this_process(capsys, "trial", "reveal", str(file), "--trial", "headache", *REASON)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"headache: its secret is revealed in its log, in {file}\n"
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        *_, last = (decode(record.body) for record in walk(view, view.trials()["headache"]))
    assert isinstance(last, Revealed)
    assert (last.secrets, last.reason, last.by) == ((SECRET.hex(),), REASON[1], "adhere trial reveal")
    verified, replayed = said_of_log(file, capsys)
    assert (
        "its secret is revealed in the log, and is the one committed to: anybody can draw its arms again" in verified
    )
    derived = f"{N} recommendations derived again, arm and probabilities, all the same"
    assert replayed.startswith(f"headache: {2 * N + 3} records; {derived}\nhead ")
    assert "checked by probabilities" not in replayed


def test_an_arm_that_the_secret_does_not_draw_is_found(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the reveal such a log passes: its probabilities are right. That is why there is a commitment."""
    other = file.with_name("other.db")
    with running(other) as processor:
        processor.create(make_design("headache", "uniform", ["walk", "aspirin"]), secret=SECRET)
        keys = processor.trial("headache").engine.keys
        right, keys.at = keys.at, lambda commitment, index: right(commitment, index + 64)  # type: ignore[method-assign]
        for n in range(16):
            send(processor, Recommend(trial="headache", request_id=f"q{n}", subject=f"p{n}"))
    close(other)
    assert "16 recommendations checked by probabilities, all the same" in said_of_log(other, capsys)[1]
    assert in_this_process(capsys, "trial", "reveal", str(other), *REASON).status == 0
    log = str(other.with_name("headache.log"))
    assert in_this_process(capsys, "trial", "export", str(other), log).status == 0
    found = in_this_process(capsys, "trial", "replay", log)
    assert (found.status, found.out) == (1, "")
    assert "was logged, but arm " in found.err


def test_not_while_the_trial_is_open_nor_twice(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reveal = ("trial", "reveal", str(file), "--trial", "headache", *REASON)
    before = in_this_process(capsys, "trial", "verify", str(file), "--trial", "headache").out
    check_complaint(in_this_process(capsys, *reveal), "trial 'headache' is not closed", "Close it first")
    with running(file) as processor:
        send(processor, ChangeStatus(trial="headache", request_id="p", status="paused", reason="a recall"))
    check_complaint(in_this_process(capsys, *reveal), "trial 'headache' is not closed")
    after = in_this_process(capsys, "trial", "verify", str(file), "--trial", "headache").out
    assert [before.splitlines()[1], after.splitlines()[1]] == [KEPT, KEPT]
    close(file)
    assert in_this_process(capsys, *reveal).status == 0
    check_complaint(in_this_process(capsys, *reveal), "was already revealed; it is in the log")


def test_mistakes_leave_everything_as_it_is(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    close(file)
    before = sorted(tmp_path.iterdir())
    for arguments, says in (
        (("nowhere.db", *REASON), "nowhere.db does not exist"),
        ((str(file), *REASON), "several trials here; choose one with --trial: headache, migraine"),
        ((str(file), "--trial", "hedache", *REASON), "did you mean 'headache'?"),
        ((str(file), "--trial", "headache", "--reason", ""), "reason: got ''"),
        ((str(file), "--trial", "headache"), "--reason"),
    ):
        check_complaint(in_this_process(capsys, "trial", "reveal", *arguments), says)
    assert sorted(tmp_path.iterdir()) == before
    with closing(open_store(file)):  # as a service does
        held = in_this_process(capsys, "trial", "reveal", str(file), "--trial", "headache", *REASON)
        check_complaint(held, "is being written by another process", "POST /trials/NAME/reveal", "Client.reveal")
    assert (
        "its secret is kept here" in in_this_process(capsys, "trial", "verify", str(file), "--trial", "headache").out
    )
