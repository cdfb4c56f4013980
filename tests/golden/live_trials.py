"""Live trials with a fixed secret: scripts in which reports are also corrected and imputed, and the trial paused.

They hold fixed how arms, kits and what learning draws follow from the secret: a revealed secret must give the same
arms in every later version.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.design.parts import Imputation
from adhere.errors import InputError
from adhere.trial.domain.commands import ChangeStatus, Withdraw
from adhere.trial.domain.events import Created, Recommended
from trial.live import ARMS, SECRET, Live

from .digests import fingerprint
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


class LiveTrial:
    """A trial in a store, spoken to by plain verbs. Only this class knows the names of the package's own."""

    def __init__(self, policy: str) -> None:
        rule = Imputation(after_days=14, took_nothing=True, reward=0.0)
        values = (0.0, 0.3, 1.0)
        design: dict[str, Any] = {"n_patients": HORIZON, "impute": rule, "reward_values": values}
        self.live = Live(policy, blinded=True, secret=SECRET, **design)

    def recommend(self, subject: str) -> str:
        """Recommend to a site; returns the kit."""
        return str(self.live.recommend(subject).kit)

    def report(self, index: int, **said: Any) -> None:
        self.live.report(index, site=None, **said)  # by a coordinator, who names arms

    def correct(self, index: int, **said: Any) -> None:
        self.live.correct(index, site=None, **said)

    def withdraw(self, index: int) -> None:
        asked = {"trial": "t", "request_id": f"withdraw-{index}", "site": "Leeds", "reason": "moved away"}
        self.live.send(Withdraw(recommendation_id=self.live.id_of(index), **asked))

    def change_status(self, status: str) -> None:
        self.live.send(ChangeStatus(trial="t", request_id=f"become-{status}", reason="planned", status=status))

    def impute_after(self, days: float) -> None:
        self.live.clock.pass_days(days)
        self.live.impute_missing()

    def commitment(self) -> str:
        created = self.live.events()[0]
        assert isinstance(created, Created)
        return created.commitment

    def recommendations(self) -> list[tuple[int, tuple[float, ...], tuple[float, ...]]]:
        """The arm, probabilities and memo of each."""
        events = [event for event in self.live.events() if isinstance(event, Recommended)]
        return [(event.chosen, event.probabilities, event.memo) for event in events]

    def state(self) -> list[float]:
        numbers: list[float] = np.frombuffer(self.live.snapshot().policy_state).tolist()
        return numbers


def by_secret(policy: str) -> dict[str, Any]:
    """The arms and kits of a trial that follows the script, and fingerprints of all it recorded and learned."""
    trial = LiveTrial(policy)
    due: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    kits, states = [], []
    for now in range(N_RECOMMENDATIONS):
        kits.append(trial.recommend(f"subject {now}"))
        for delay, report in feedback(now, len(ARMS)):
            said = {**report, "actual": ARMS["abc".index(report["actual"][-1])]} if "actual" in report else report
            due.setdefault(now + delay, []).append((now, said))
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
        "commitment": trial.commitment(),
        "arms": "".join(str(chosen) for chosen, *_ in made),
        "kits": " ".join(kits),
        "last probabilities": list(made[-1][1]),
        "probabilities": fingerprint([probabilities for _, probabilities, _ in made]),
        "memos": fingerprint([memo for _, _, memo in made]),
        "states": fingerprint(states),
    }


def with_refusal(ask: Any) -> None:
    """Ask for what must be refused."""
    try:
        ask()
    except InputError:
        return
    raise AssertionError("it was not refused")
