"""The wealth of a live trial's bets at a look, from all its recommendations and what was reported of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from adhere.analysis.adaptive.wealth_kernel import Decisions, pair_wealth
from adhere.looks.judge import WealthRules
from adhere.store import ReadTransaction
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.history import History, history_of
from adhere.trial.looks.look_state import LookPlan, benefit_of
from adhere.trial.policy.engine import Floats

_AT_ONCE = 2000  # recommendations


def read_patients(
    view: ReadTransaction, trial: int, n_recommendations: int, position: int
) -> Iterator[tuple[Recommended, History]]:
    """All recommendations of a trial in a store, and what was known of them at a position of its log."""
    for first in range(0, n_recommendations, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, n_recommendations))
        found = view.histories(trial, numbers, position)
        for number in numbers:
            events = [decode(body) for body in found[number]]
            assert isinstance(events[0], Recommended)
            yield events[0], history_of(events)


def decisions_of(plan: LookPlan, patients: Iterable[tuple[Recommended, History]]) -> Decisions:
    """The recommendations of a trial in order, but for slips, and the order in which their outcomes came."""
    known = [one for one in patients if not one[1].in_error]
    made = np.array([event.position for event, _ in known], np.int64)
    heard = [(history.reward.place, t) for t, (_, history) in enumerate(known) if history.reward is not None]
    places, order = np.array(sorted(heard), np.int64).reshape(-1, 2).T
    return Decisions(
        chosen=np.array([event.chosen for event, _ in known], np.int64),
        probabilities=np.array([event.probabilities for event, _ in known], float),
        rewards=np.array([benefit_of(plan, history) for _, history in known], float),  # None becomes NaN
        actual=np.zeros(0, np.int64),  # intention-to-treat has no need of it
        order=order,
        known_before=np.searchsorted(places, made),
    )


def wealth_of(
    rules: WealthRules, plan: LookPlan, patients: Iterable[tuple[Recommended, History]]
) -> tuple[Floats, Floats]:
    """The logarithms of the most that the bets on each arm, better or worse than the control, ever had."""
    decisions = decisions_of(plan, patients)
    up, down = np.zeros(rules.n_arms), np.zeros(rules.n_arms)
    n_patients = len(decisions.chosen)
    scores = np.zeros(n_patients)
    for arm in range(rules.n_arms):
        if arm != rules.control:
            bets = (arm, rules.control, False, 0.0, rules.log_threshold, decisions, n_patients, scores)
            _, _, up[arm], down[arm] = pair_wealth(*bets)
    return up, down
