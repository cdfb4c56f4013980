"""Live trials to test with: a processor over a store, a clock that stands still until it is moved, short commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from adhere.design.design import Design
from adhere.design.make_design import make_design
from adhere.store import Head, ReadTransaction, Record, Store, open_store
from adhere.trial.domain.commands import (
    AnyCommand,
    Correct,
    Examined,
    ImputeMissing,
    Receipt,
    Recommend,
    RecommendationResponse,
    Report,
    Response,
)
from adhere.trial.domain.events import AnyEvent, Recommended, decode, encode, to_record
from adhere.trial.domain.log_records import START, index_of, link, walk
from adhere.trial.log.replay import ReplayResult, replay
from adhere.trial.log.verify import VerificationResult, verify
from adhere.trial.policy.engine import Engine
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.processor import CommandProcessor
from adhere.trial.writing.snapshot import Snapshot, decode_snapshot

Kind = TypeVar("Kind", RecommendationResponse, Receipt, Examined)
ARMS = ("walk", "aspirin")
SECRET = bytes(range(32))
UNKNOWN_ID = "0000-0000-0000-0000"


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
        self.seed = design.pop("seed", None)  # of a rehearsal; any other trial has a secret
        secret = design.pop("secret", SECRET)  # None: drawn
        more = {} if self.seed is None else {"rehearsal": True}
        self.design: Design = make_design("t", policy, **{"arms": ARMS, **more, **design})
        self.processor.create(self.design, seed=self.seed, secret=None if more else secret)
        self._ids = count()

    def engine(self) -> Engine:
        """The compiled policy of the trial."""
        return self.processor.trial("t").engine

    def id_of(self, recommendation: int | str) -> str:
        """The ID of a recommendation that a test names by its index."""
        if isinstance(recommendation, str):
            return recommendation
        with self.store.reading() as view:
            bodies = view.histories(number_of(view), [recommendation]).get(recommendation)
        made = decode(bodies[0]) if bodies else None
        return made.recommendation_id if isinstance(made, Recommended) else UNKNOWN_ID

    def index_of(self, made: RecommendationResponse) -> int:
        """The index of a recommendation, which nobody outside is shown."""
        with self.store.reading() as view:
            found = index_of(view, number_of(view), made.recommendation_id)
        assert found is not None
        return found

    def send(self, command: AnyCommand) -> Response:
        """The response to one command; raises if it was refused."""
        return send(self.processor, command)

    def _asked(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"trial": "t", "request_id": f"auto-{next(self._ids)}", "site": "Leeds", "by": "1", **said}

    def recommend(self, subject: str, **said: Any) -> RecommendationResponse:
        return _is(RecommendationResponse, self.send(Recommend(**self._asked({"subject": subject, **said}))))

    def report(self, recommendation: int | str, **said: Any) -> Receipt:
        named = {"recommendation_id": self.id_of(recommendation)}
        return _is(Receipt, self.send(Report(**self._asked(named | said))))

    def correct(self, recommendation: int | str, **said: Any) -> Receipt:
        said = {"recommendation_id": self.id_of(recommendation), "reason": "typing error", **said}
        return _is(Receipt, self.send(Correct(**self._asked(said))))

    def impute_missing(self) -> None:
        command = ImputeMissing(trial="t", request_id="", by="rule")
        while _is(Examined, self.send(command)).next_index is not None:
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


def replay_of(events: Iterable[AnyEvent], secret: bytes | None = SECRET) -> ReplayResult:
    """The replay of a log that consists of these events, with a good chain and its secret, if that is known."""
    with log_of(events, secret) as (view, trial):
        return replay(view, trial)


def verdict_of(events: Iterable[AnyEvent]) -> VerificationResult:
    """What `verify` says of such a log."""
    with log_of(events) as (view, trial):
        return verify(view, trial)


@contextmanager
def log_of(events: Iterable[AnyEvent], secret: bytes | None = None) -> Iterator[tuple[ReadTransaction, int]]:
    store, before = open_store(), START
    records: list[Record] = []
    for event in events:
        body = encode(event)
        before = link(before, body)
        records.append(to_record(event, body, before))
    with store.writing() as writing:
        trial = writing.add_trial("t", Head(0, START, b""))
        writing.append(trial, records, Head(len(records), before, b""))
        if secret is not None:
            writing.save_secret(trial, commitment_to(secret), secret)
    with store.reading() as view:
        yield view, trial
