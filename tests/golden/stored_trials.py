"""Live trials in a store: fixed scripts in which reports are also corrected and imputed, and the trial paused."""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.errors import InputError
from adhere.trial.commands import ChangeStatus, Withdraw
from adhere.trial.design_parts import Imputation
from adhere.trial.events import Recommended
from trial.live import ARMS, Live

from .digests import digest
from .live_scripts import feedback

POLICIES = (
    "thompson/actual",
    "exp3/comply",
    "epsilon-greedy",
    "hierarchical(thompson, recycle=true)",
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
    "hierarchical-exp3",
)
N_RECOMMENDATIONS, HORIZON = 40, 60


class StoredTrial:
    """A trial in a store, spoken to by plain verbs. Only this class knows the names of the package's own."""

    def __init__(self, policy: str) -> None:
        rule = Imputation(after_days=14, took_nothing=True, reward=0.0)
        values = (0.0, 0.3, 1.0)
        self.live = Live(policy, n_patients=HORIZON, impute=rule, reward_values=values)

    def recommend(self, subject: str) -> int:
        return self.live.recommend(subject).recommendation_id

    def report(self, recommendation: int, **said: Any) -> None:
        self.live.report(recommendation, **said)

    def correct(self, recommendation: int, **said: Any) -> None:
        self.live.correct(recommendation, **said)

    def withdraw(self, recommendation: int) -> None:
        asked = {"trial": "t", "request_id": f"withdraw-{recommendation}", "site": "Leeds", "reason": "moved away"}
        self.live.send(Withdraw(recommendation_id=recommendation, **asked))

    def change_status(self, status: str) -> None:
        self.live.send(ChangeStatus(trial="t", request_id=f"become-{status}", reason="planned", status=status))

    def impute_after(self, days: float) -> None:
        self.live.clock.pass_days(days)
        self.live.impute_missing()

    def recommendations(self) -> list[tuple[int, tuple[float, ...], tuple[float, ...], str]]:
        """The arm, probabilities, memo and random key of each."""
        events = [event for event in self.live.events() if isinstance(event, Recommended)]
        return [(event.chosen, event.probabilities, event.memo, event.key) for event in events]

    def state(self) -> list[float]:
        numbers: list[float] = np.frombuffer(self.live.snapshot().policy_state).tolist()
        return numbers


def in_store(policy: str) -> dict[str, Any]:
    """The arms of a trial that follows the script, and digests of all it recorded and learned."""
    trial = StoredTrial(policy)
    due: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    states = []
    for now in range(N_RECOMMENDATIONS):
        number = trial.recommend(f"subject {now}")
        for delay, report in feedback(number, len(ARMS)):
            said = {**report, "actual": ARMS["abc".index(report["actual"][-1])]} if "actual" in report else report
            due.setdefault(now + delay, []).append((number, said))
        for reported, said in reversed(due.pop(now, [])):
            trial.report(reported, **said)
        if now % 8 == 7:
            trial.correct(now - 7, actual=ARMS[now // 8 % 2], reward=0.3)
            trial.correct(now - 3, reward=1.0)
        if now == 18:
            trial.correct(9, retract=("actual",))
            trial.withdraw(12)
        if now == 20:
            trial.change_status("paused")
            with_refusal(lambda: trial.recommend("too late"))
            trial.change_status("open")
        if now in (25, 33):
            trial.impute_after(15)
        states.append(trial.state())
    trial.report(4, actual=ARMS[1])  # what was only imputed
    trial.change_status("closed")
    states.append(trial.state())
    made = trial.recommendations()
    return {
        "arms": "".join(str(chosen) for chosen, *_ in made),
        "last probabilities": list(made[-1][1]),
        "probabilities": digest([probabilities for _, probabilities, *_ in made]),
        "memos": digest([memo for _, _, memo, _ in made]),
        "keys": digest([key for *_, key in made]),
        "states": digest(states),
    }


def with_refusal(ask: Any) -> None:
    """Ask for what must be refused."""
    try:
        ask()
    except InputError:
        return
    raise AssertionError("it was not refused")
