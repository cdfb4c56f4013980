"""Live trials to test with: a desk over a store, a clock that stands still until it is moved, short requests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from adhere.store import Reading, Store, open_store
from adhere.trial.chain import walk
from adhere.trial.design import Design, make_design
from adhere.trial.desk import Desk
from adhere.trial.events import AnyEvent, decode
from adhere.trial.fold import Standing, decode_standing
from adhere.trial.requests import Advice, Answer, Correct, Examine, Receipt, Recommend, Report

Kind = TypeVar("Kind", Advice, Receipt)
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
        self.desk = Desk(self.store, self.clock)
        self.design: Design = make_design("t", policy, **{"arms": ARMS, "seed": 5, **design})
        self.desk.create(self.design)
        self._ids = count()

    def _asked(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"trial": "t", "request": f"auto-{next(self._ids)}", "site": "Leeds", "by": "1", **said}

    def recommend(self, subject: str, **said: Any) -> Advice:
        return _is(Advice, self.desk.ask(Recommend(**self._asked({"subject": subject, **said}))))

    def report(self, recommendation: int, **said: Any) -> Receipt:
        return _is(Receipt, self.desk.ask(Report(**self._asked({"recommendation": recommendation, **said}))))

    def correct(self, recommendation: int, **said: Any) -> Receipt:
        said = {"recommendation": recommendation, "reason": "typing error", **said}
        return _is(Receipt, self.desk.ask(Correct(**self._asked(said))))

    def examine(self) -> None:
        self.desk.ask(Examine(trial="t", request="", by="rule"))

    def events(self) -> list[AnyEvent]:
        with self.store.reading() as view:
            return [decode(record.body) for record in walk(view, number_of(view))]

    def standing(self) -> Standing:
        with self.store.reading() as view:
            return standing_in(view)

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events()]


def number_of(view: Reading) -> int:
    return view.trials()["t"]


def standing_in(view: Reading) -> Standing:
    standing = decode_standing(view.head(number_of(view)).snapshot)
    assert standing is not None
    return standing


def _is(kind: type[Kind], answer: Answer) -> Kind:
    assert isinstance(answer, kind)
    return answer
