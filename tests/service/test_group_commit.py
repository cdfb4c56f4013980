"""Group commit: commands that wait together are written together, and one that fails fails alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adhere.design.make_design import make_design
from adhere.errors import InputError, UnavailableError, UnknownError
from adhere.service.group_commit import GroupCommit, ShutdownError
from adhere.service.metrics import Metrics
from adhere.store import open_store
from adhere.trial.domain.commands import (
    AnyCommand,
    Correct,
    Receipt,
    Recommend,
    RecommendationResponse,
    Report,
    Response,
)
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.policy.engine import Engine
from adhere.trial.writing import running_state
from adhere.trial.writing.processor import CommandProcessor


class WatchedDesk(CommandProcessor):
    """Notes how many requests came at once, and can be held up."""

    def __init__(self, path: Path) -> None:
        super().__init__(open_store(path))
        self.sizes: list[int] = []
        self.may_go = threading.Event()
        self.may_go.set()

    def is_quick(self, command: AnyCommand) -> bool:
        return False  # what is held up must not hold up the event loop

    def execute(
        self, requests: Sequence[AnyCommand], *, waits: bool = True
    ) -> list[Response | InputError | UnavailableError]:
        self.may_go.wait(10)
        self.sizes.append(len(requests))
        if any(getattr(request, "subject", "") == "poison" for request in requests):
            raise ZeroDivisionError
        return super().execute(requests, waits=waits)


@pytest.fixture
def processor(tmp_path: Path) -> WatchedDesk:
    processor = WatchedDesk(tmp_path / "trials.db")
    processor.create(make_design("t", "uniform", ["a", "b"]))
    return processor


def wanted(subject: str, trial: str = "t") -> Recommend:
    return Recommend(trial=trial, request_id=f"for {subject}", subject=subject)


def id_in(answer: object) -> str:
    assert isinstance(answer, RecommendationResponse)
    return answer.recommendation_id


def test_what_waits_is_written_at_once(processor: WatchedDesk) -> None:
    async def main() -> list[Response]:
        group_commit = GroupCommit(processor, Metrics())
        processor.may_go.clear()
        first = group_commit.execute(wanted("S-0"))
        await asyncio.sleep(0.05)
        rest = [group_commit.execute(wanted(f"S-{number}")) for number in range(1, 600)]
        made = group_commit.run(lambda: "done")
        processor.may_go.set()
        answers = [await answer for answer in (first, *rest)]
        assert await made == "done"
        group_commit.close()
        return answers

    answers = asyncio.run(main())
    with processor.store.reading() as view:
        events = [decode(record.body) for record in walk(view, view.trials()["t"])]
    processor.store.close()
    made = [(event.recommendation_id, event.request_id) for event in events if isinstance(event, Recommended)]
    assert made == [(id_in(answer), f"for S-{number}") for number, answer in enumerate(answers)]
    assert len(set(made)) == 600
    assert processor.sizes[:2] == [1, 256]
    assert len(processor.sizes) == 4


def test_each_gets_its_own_answer(processor: WatchedDesk) -> None:
    async def main() -> list[object]:
        group_commit = GroupCommit(processor, Metrics())
        processor.may_go.clear()
        first = group_commit.execute(wanted("first"))
        await asyncio.sleep(0.05)
        others = [
            group_commit.execute(wanted("x", "nowhere")),
            group_commit.execute(wanted("poison")),
            group_commit.execute(wanted("good")),
        ]
        gone = group_commit.execute(wanted("gone"))
        gone.cancel()
        processor.may_go.set()
        found = await asyncio.gather(first, *others, return_exceptions=True)
        group_commit.close()
        return list(found)

    first, unknown, poisoned, good = asyncio.run(main())
    processor.store.close()
    assert isinstance(first, RecommendationResponse)
    assert isinstance(unknown, UnknownError)
    assert isinstance(poisoned, ZeroDivisionError)
    assert isinstance(good, RecommendationResponse)


def test_closing_finishes_what_waits_and_takes_nothing_more(processor: WatchedDesk) -> None:
    async def main() -> int:
        group_commit = GroupCommit(processor, Metrics())
        processor.may_go.clear()
        waiting = [group_commit.execute(wanted(f"S-{number}")) for number in range(50)]
        threading.Timer(0.05, processor.may_go.set).start()
        group_commit.close()
        with pytest.raises(ShutdownError):
            group_commit.execute(wanted("late"))
        return len(await asyncio.gather(*waiting))

    assert asyncio.run(main()) == 50
    processor.store.close()


def test_a_correction_that_learns_again_does_not_stop_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 16)
    processor = CommandProcessor(open_store(tmp_path / "trials.db"))
    processor.create(make_design("t", "thompson/actual", ["a", "b"]))
    made = [id_in(answer) for answer in processor.execute([wanted(f"S-{n}") for n in range(20)])]
    for number, one in enumerate(made):
        processor.execute([Report(trial="t", request_id=f"r{number}", recommendation_id=one, actual="a", reward=1)])
    learning, may_go, learn = threading.Event(), threading.Event(), Engine.learn

    def slow(engine: Engine, state: Any, updates: Any) -> Any:
        if len(updates.facts) > 10:  # not the update of one report
            learning.set()
            may_go.wait(10)
        return learn(engine, state, updates)

    monkeypatch.setattr(Engine, "learn", slow)

    async def main() -> int | None:
        group_commit = GroupCommit(processor, Metrics())
        slip = Correct(trial="t", request_id="c", recommendation_id=made[0], actual="b", reason="a slip")
        corrected = group_commit.execute(slip)
        await asyncio.to_thread(learning.wait, 10)
        assert not corrected.done()
        may_go.set()
        receipt = await corrected
        assert isinstance(receipt, Receipt)
        group_commit.close()
        return receipt.record

    try:
        assert asyncio.run(main()) == 1 + 20 + 20 + 1
    finally:
        may_go.set()
    with processor.store.reading() as view:
        assert replay(view, view.trials()["t"]).difference is None
    processor.store.close()
