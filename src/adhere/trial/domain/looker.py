"""Judge a look at a live trial: gather the evidence and apply the design's rules.

Simulated trials run a compiled form of the same rules; live trials run them as Python.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from adhere.analysis.adaptive.wealth_kernel import Decisions, pair_wealth
from adhere.design.design import Design
from adhere.design.make_look_rules import look_rules
from adhere.looks.judge import (
    GO_ON,
    N_VALUES,
    Evidence,
    WealthRules,
    judge,
    needs_beliefs,
    needs_wealth,
    selected_arm,
    work_size,
)
from adhere.trial.domain.events import Recommended
from adhere.trial.domain.history import History
from adhere.trial.domain.look_state import LookPlan, LookState, benefit_of, has_looks, look_plan
from adhere.trial.policy.engine import Engine, Floats

Patients: TypeAlias = Iterable[tuple[Recommended, History]]  # all recommendations, read only if a rule needs them


class Finding(NamedTuple):
    """The findings of a look: fields of the event `Looked`."""

    status: tuple[int, ...]
    values: tuple[tuple[float | None, ...], ...]
    decision: int
    selected: int | None


class Looker:
    """The plan of a design's looks, and the rules that judge the outcomes."""

    def __init__(self, design: Design) -> None:
        self.plan, self._rules = look_plan(design), look_rules(design)
        self.needs_beliefs = needs_beliefs(self._rules)
        self.needs_patients = needs_wealth(self._rules)  # every recommendation so far, not only sums by arm

    def find(self, number: int, looks: LookState, beliefs: Sequence[float], patients: Patients) -> Finding:
        """Judge the outcomes so far at a look, counted from 0."""
        n_arms, rules = self.plan.n_arms, self._rules
        up = down = np.zeros(0)
        if isinstance(rules, WealthRules):
            up, down = wealth_of(rules, self.plan, patients)
        n, sums, squares = (np.array(numbers, float) for numbers in (looks.n, looks.sums, looks.squares))
        evidence = Evidence(n, sums, squares, np.array(beliefs, float), up, down, np.zeros(work_size(n_arms)))
        status, values = np.array(looks.status, np.int64), np.full(n_arms * N_VALUES, np.nan)
        decision = int(judge(rules, number, evidence, status, values))
        best = int(selected_arm(status, values)) if decision != GO_ON else -1
        known = [None if value != value else float(value) for value in values]
        rows = tuple(tuple(known[first : first + N_VALUES]) for first in range(0, len(known), N_VALUES))
        return Finding(tuple(status.tolist()), rows, decision, best if best >= 0 else None)


_lookers: WeakKeyDictionary[Engine, Looker] = WeakKeyDictionary()


def looker_of(design: Design, engine: Engine) -> Looker | None:
    """Return the looker of the trial with an engine, or None if its design neither plans looks nor prescribes the
    arms' probabilities.
    """
    if not has_looks(design):
        return None
    if engine not in _lookers:
        _lookers[engine] = Looker(design)
    return _lookers[engine]


def decisions_of(plan: LookPlan, patients: Patients) -> Decisions:
    """Return the recommendations of a trial in order, without entry errors, and the order in which outcomes were
    reported.
    """
    known = [one for one in patients if not one[1].in_error]
    made = np.array([event.position for event, _ in known], np.int64)
    heard = [(history.reward.place, t) for t, (_, history) in enumerate(known) if history.reward is not None]
    places, order = np.array(sorted(heard), np.int64).reshape(-1, 2).T
    return Decisions(
        chosen=np.array([event.chosen for event, _ in known], np.int64),
        probabilities=np.array([event.probabilities for event, _ in known], float),
        rewards=np.array([benefit_of(plan, history) for _, history in known], float),  # None becomes NaN
        actual=np.zeros(0, np.int64),  # not needed for intention-to-treat
        order=order,
        known_before=np.searchsorted(places, made),
    )


def wealth_of(rules: WealthRules, plan: LookPlan, patients: Patients) -> tuple[Floats, Floats]:
    """Return the logarithm of the highest wealth of the bets for and against each arm, compared with the control."""
    decisions = decisions_of(plan, patients)
    up, down = np.zeros(rules.n_arms), np.zeros(rules.n_arms)
    n_patients = len(decisions.chosen)
    scores = np.zeros(n_patients)
    for arm in range(rules.n_arms):
        if arm != rules.control:
            bets = (arm, rules.control, False, 0.0, rules.log_threshold, decisions, n_patients, scores)
            _, _, up[arm], down[arm] = pair_wealth(*bets)
    return up, down
