"""Live trials to test with: a processor over a store, a clock that stands still until it is moved, short commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from adhere.store import Head, ReadTransaction, Record, Store, open_store
from adhere.trial.commands import (
    AnyCommand,
    Correct,
    ImputeMissing,
    Receipt,
    Recommend,
    RecommendationResponse,
    Report,
    Response,
)
from adhere.trial.design import Design
from adhere.trial.engine import Engine
from adhere.trial.events import AnyEvent, decode, encode, to_record
from adhere.trial.log.chain import START, Verdict, link, verify, walk
from adhere.trial.log.replay import ReplayResult, replay
from adhere.trial.make_design import make_design
from adhere.trial.processor import CommandProcessor
from adhere.trial.snapshot import Snapshot, decode_snapshot

Kind = TypeVar("Kind", RecommendationResponse, Receipt)
ARMS = ("walk", "aspirin")


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_days(self, days: float) -> None:
        self.time += timedelta(days=days)


class Live:
    """One trial called "t" in a store, spoken to as site "Leeds"."""

    def __init__(self, policy: str = "thompson/actual", store: Store | None = None, **design: Any) -> None:
        self.clock = Clock()
        self.store = store or open_store()
        self.processor = CommandProcessor(self.store, self.clock)
        self.seed = design.pop("seed", 5)
        self.design: Design = make_design("t", policy, **{"arms": ARMS, **design})
        self.processor.create(self.design, seed=self.seed)
        self._ids = count()

    def engine(self) -> Engine:
        """The compiled policy of the trial."""
        return self.design.engine(self.seed)

    def send(self, command: AnyCommand) -> Response:
        """The response to one command; raises if it was refused."""
        return send(self.processor, command)

    def _asked(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"trial": "t", "request_id": f"auto-{next(self._ids)}", "site": "Leeds", "by": "1", **said}

    def recommend(self, subject: str, **said: Any) -> RecommendationResponse:
        return _is(RecommendationResponse, self.send(Recommend(**self._asked({"subject": subject, **said}))))

    def report(self, recommendation: int, **said: Any) -> Receipt:
        return _is(Receipt, self.send(Report(**self._asked({"recommendation_id": recommendation, **said}))))

    def correct(self, recommendation: int, **said: Any) -> Receipt:
        said = {"recommendation_id": recommendation, "reason": "typing error", **said}
        return _is(Receipt, self.send(Correct(**self._asked(said))))

    def impute_missing(self) -> None:
        while (
            _is(Receipt, self.send(ImputeMissing(trial="t", request_id="", by="rule"))).recommendation_id is not None
        ):
            pass

    def events(self) -> list[AnyEvent]:
        with self.store.reading() as view:
            return [decode(record.body) for record in walk(view, number_of(view))]

    def snapshot(self) -> Snapshot:
        with self.store.reading() as view:
            return snapshot_in(view)

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events()]


def send(processor: CommandProcessor, command: AnyCommand) -> Response:
    """The response to one command; raises if it was refused."""
    (response,) = processor.execute([command])
    if isinstance(response, Exception):
        raise response
    return response


def number_of(view: ReadTransaction) -> int:
    return view.trials()["t"]


def snapshot_in(view: ReadTransaction) -> Snapshot:
    snapshot = decode_snapshot(view.head(number_of(view)).snapshot)
    assert snapshot is not None
    return snapshot


def _is(kind: type[Kind], answer: Response) -> Kind:
    assert isinstance(answer, kind)
    return answer


def replay_of(events: Iterable[AnyEvent]) -> ReplayResult:
    """The replay of a log that consists of these events, with a good chain."""
    with log_of(events) as (view, trial):
        return replay(view, trial)


def verdict_of(events: Iterable[AnyEvent]) -> Verdict:
    """What `verify` says of such a log."""
    with log_of(events) as (view, trial):
        return verify(view, trial)


@contextmanager
def log_of(events: Iterable[AnyEvent]) -> Iterator[tuple[ReadTransaction, int]]:
    store, before = open_store(), START
    records: list[Record] = []
    for event in events:
        body = encode(event)
        before = link(before, body)
        records.append(to_record(event, body, before))
    with store.writing() as writing:
        trial = writing.add_trial("t", Head(0, START, b""))
        writing.append(trial, records, Head(len(records), before, b""))
    with store.reading() as view:
        yield view, trial
