"""Whatever sites send in whatever order, a subject has at most one open round, in every store."""

from __future__ import annotations

from collections import Counter
from itertools import count
from random import Random
from typing import Any

import pytest

from adhere.design.make_design import make_design
from adhere.errors import ConflictError
from adhere.store import Store
from adhere.trial.domain.commands import (
    AnyCommand,
    Correct,
    Erase,
    MarkInError,
    Recommend,
    RecommendationResponse,
    Report,
    Withdraw,
)
from adhere.trial.domain.events import Erased, Recommended, decode
from adhere.trial.domain.history import History, history_of
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import CommandProcessor
from trial.live import ARMS

PARTS = ({"took_nothing": True, "reward": 0.0}, {"actual": ARMS[0]}, {"reward": 1.0})
_names = count()


class Rounds:
    """A site with two subjects, and two processes that serve it by turns."""

    def __init__(self, store: Store, entries: Any) -> None:
        self.store, self.entries = store, entries
        self.name, self.ids = f"trial {next(_names)}", count()
        self.processors = [CommandProcessor(self.store) for _ in range(2)]
        self.processors[0].create(make_design(self.name, "thompson/actual", ARMS, entries=self.entries))
        self.number = self._view(lambda view: view.trials()[self.name])
        self.made: list[str] = []
        self.histories: list[History] = []
        self.names: dict[str, str] = {}  # the key of each subject

    def _view(self, read: Any) -> Any:
        with self.store.reading() as view:
            return read(view)

    def _send(self, *commands: AnyCommand) -> list[Any]:
        processor = self.processors[next(self.ids) % 2]
        answers = processor.execute(commands)
        for answer in answers:
            assert not isinstance(answer, Exception) or isinstance(answer, ConflictError) or "empty" in str(answer)
        return answers

    def _said(self) -> dict[str, Any]:
        return {"trial": self.name, "request_id": f"r{next(self.ids)}", "site": "Leeds"}

    def _about(self, which: int) -> dict[str, Any]:
        return self._said() | {"recommendation_id": self.made[which % len(self.made)]}

    def recommend(self, subject: str, again: bool | None) -> None:
        own = [one for one in self.histories if self.names.get(subject) == one.subject]
        known = [one for one in own if one.is_open]
        entered = [one for one in own if not one.in_error]
        (answer,) = self._send(Recommend(**self._said(), subject=subject, again=again))
        if isinstance(answer, ConflictError):
            assert not known
            assert self.entries == "once" or (self.entries == "ask" and not again)
            assert answer.recommendation_id in [one.recommendation_id for one in entered]
            return
        assert isinstance(answer, RecommendationResponse)
        if known:
            assert answer.recommendation_id == known[0].recommendation_id
        else:
            assert answer.recommendation_id not in self.made
            assert not entered or self.entries == "repeated" or (self.entries == "ask" and again)
            self.made.append(answer.recommendation_id)

    def play_a_round(self, subject: str, which: int) -> None:
        self.recommend(subject, again=True)
        if self.made:
            said = self._about(len(self.made) - 1)
            ends: tuple[AnyCommand, ...] = (
                Report(**said, took_nothing=True, reward=1.0),
                Withdraw(**said, reason="moved"),
                MarkInError(**said, reason="typing error"),
            )
            self._send(ends[max(0, which - 3)])

    def recommend_and_retract_at_once(self, subject: str, which: int) -> None:
        commands: list[AnyCommand] = [Recommend(**self._said(), subject=subject, again=True)]
        if self.made:
            commands.insert(which % 2, Correct(**self._about(which), reason="slip", retract=("reward",)))
        for answer in self._send(*commands):
            if isinstance(answer, RecommendationResponse) and answer.recommendation_id not in self.made:
                self.made.append(answer.recommendation_id)

    def report(self, which: int) -> None:
        if self.made:
            self._send(Report(**self._about(which), **PARTS[which % 3]))

    def retract(self, which: int, everything: bool) -> None:
        if self.histories:
            history = self.histories[which % len(self.histories)]
            said = {"actual": history.actual, "reward": history.reward, "withdrawal": history.withdrawn or None}
            parts = [part for part, value in said.items() if value is not None]
            said_of = self._said() | {"recommendation_id": history.recommendation_id}
            self._send(Correct(**said_of, reason="slip", retract=tuple(parts if everything else parts[:1])))

    def withdraw(self, which: int) -> None:
        if self.made:
            self._send(Withdraw(**self._about(which), reason="moved"))

    def mark_in_error(self, which: int) -> None:
        if self.made:
            self._send(MarkInError(**self._about(which), reason="typing error"))

    def erase(self, subject: str) -> None:
        if subject in self.names:
            self._send(Erase(**self._said(), subject=subject))

    def restart(self) -> None:
        self.processors = [CommandProcessor(self.store) for _ in range(2)]

    def at_most_one_round_is_open(self) -> None:
        self._read()
        open_rounds = Counter(one.subject for one in self.histories if one.is_open)
        assert max(open_rounds.values(), default=0) <= 1
        if self.entries == "once":
            counted = Counter(one.subject for one in self.histories if not one.in_error)
            assert max(counted.values(), default=0) <= 1

    def _read(self) -> None:
        """Take what is known of each recommendation from the log alone."""
        events = self._view(lambda view: [decode(record.body) for record in walk(view, self.number)])
        about: dict[int, list[Any]] = {}
        for event in events:
            if (index := getattr(event, "recommendation_index", None)) is not None:
                about.setdefault(index, []).append(event)
        self.histories = [history_of(own) for own in about.values()]
        subjects = self._view(lambda view: list(view.subjects(self.number)))
        self.names = {one.pseudonym.removeprefix("Leeds/"): one.key for one in subjects}
        erased = {event.subject for event in events if isinstance(event, Erased)}
        made = {event.subject for event in events if isinstance(event, Recommended)}
        assert made - erased == set(self.names.values())

    def check_log(self) -> None:
        fault, difference = self._view(
            lambda view: (verify(view, self.number).fault, replay(view, self.number).difference)
        )
        assert (fault, difference) == (None, None)


N_STEPS = 40
# Each with how often it is chosen, and what its arguments are taken from.
STEPS: Any = {
    Rounds.recommend: (4, ("anna", "anna", "ben"), (None, True)),
    Rounds.play_a_round: (5, ("anna", "anna", "ben"), range(6)),
    Rounds.recommend_and_retract_at_once: (2, ("anna", "ben"), range(6)),
    Rounds.retract: (6, range(6), (False, True)),
    Rounds.report: (3, range(6)),
    Rounds.withdraw: (1, range(6)),
    Rounds.mark_in_error: (1, range(6)),
    Rounds.erase: (1, ("anna", "ben")),
    Rounds.restart: (1,),
}


@pytest.mark.parametrize("entries", ["once", "ask", "repeated"])
def test_at_most_one_round_is_open(store: Store, entries: str) -> None:
    check(store, entries, 4)


@pytest.mark.slow
@pytest.mark.parametrize("entries", ["once", "ask", "repeated"])
def test_at_most_one_round_is_open_however_long_one_tries(store: Store, entries: str) -> None:
    check(store, entries, 100)


def check(store: Store, entries: str, n_trials: int) -> None:
    for seed in range(n_trials):
        random, rounds = Random(seed), Rounds(store, entries)
        for step in random.choices(list(STEPS), [often for often, *_ in STEPS.values()], k=N_STEPS):
            step(rounds, *(random.choice(values) for values in STEPS[step][1:]))
            rounds.at_most_one_round_is_open()
        rounds.check_log()
