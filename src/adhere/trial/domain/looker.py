"""A look at a live trial: the evidence gathered, judged by the design's rules, and the shares of arms until the next.

The rules are those that simulated trials of the design run compiled; here they run as Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from adhere.analysis.adaptive.wealth_kernel import Decisions, pair_wealth
from adhere.design.design import Design
from adhere.design.look_rules import look_rules
from adhere.errors import UnavailableError
from adhere.looks.judge import (
    ACTIVE,
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
from adhere.policies.guards.dropped_arms import shares_left
from adhere.store import ReadTransaction
from adhere.trial.domain.events import SOFTWARE, Looked, Recommended, decode
from adhere.trial.domain.history import History, history_of
from adhere.trial.domain.look_state import (
    LookPlan,
    LookState,
    benefit_of,
    dropped,
    has_looks,
    look_plan,
    stratum_shares,
)
from adhere.trial.policy.engine import Choice, Engine, Floats
from adhere.trial.policy.policy_steps import OF_THE_MACHINE, reason_of, unavailable

_AT_ONCE = 2000  # recommendations
Patients: TypeAlias = Iterable[tuple[Recommended, History]]
Values: TypeAlias = tuple[tuple[float | None, ...], ...]


class Finding(NamedTuple):
    """What a look finds: fields of the event `Looked`."""

    status: tuple[int, ...]
    values: Values
    decision: int
    selected: int | None


class Looker:
    """What looks at a trial of a design, and says by which shares arms are drawn where the design prescribes them."""

    def __init__(self, design: Design) -> None:
        self.plan, self._rules = look_plan(design), look_rules(design)
        self.needs_beliefs = needs_beliefs(self._rules)
        self.needs_patients = needs_wealth(self._rules)  # every recommendation so far, not only sums by arm

    def find(self, number: int, looks: LookState, beliefs: Sequence[float], patients: Patients) -> Finding:
        """What a look, counted from 0, finds in the outcomes so far."""
        n_arms, rules = self.plan.n_arms, self._rules
        up, down = (
            wealth_of(rules, self.plan, patients) if isinstance(rules, WealthRules) else (np.zeros(0), np.zeros(0))
        )
        n, sums, squares = (np.array(numbers, float) for numbers in (looks.n, looks.sums, looks.squares))
        evidence = Evidence(n, sums, squares, np.array(beliefs, float), up, down, np.zeros(work_size(n_arms)))
        status, values = np.array(looks.status, np.int64), np.full(n_arms * N_VALUES, np.nan)
        decision = int(judge(rules, number, evidence, status, values))
        best = int(selected_arm(status, values)) if decision != GO_ON else -1
        known = [None if value != value else float(value) for value in values]
        rows = tuple(tuple(known[first : first + N_VALUES]) for first in range(0, len(known), N_VALUES))
        return Finding(tuple(status.tolist()), rows, decision, best if best >= 0 else None)

    def look(
        self,
        engine: Engine,
        number: int,
        looks: LookState,
        policy_state: Floats,
        n_recommendations: int,
        patients: Patients,
        **stamp: Any,
    ) -> Looked:
        """The event of a look, counted from 0."""
        beliefs = engine.beliefs(policy_state, n_recommendations) if self.needs_beliefs else ()
        finding = self.find(number, looks, beliefs, patients)
        shares: tuple[float, ...] = ()
        reason = ""
        if self.plan.is_frozen:
            # A stop that is only recommended drops no arm.
            status = looks.status if finding.decision != GO_ON else finding.status
            next_one, gone = max(n_recommendations, self.plan.burn_in), [one != ACTIVE for one in status]
            shares, reason = self._shares_or_equal(engine, policy_state, next_one, gone)
        return Looked(
            **stamp,
            **finding._asdict(),
            look=number,
            n_outcomes=looks.n_outcomes,
            n_recommendations=n_recommendations,
            shares=shares,
            fallback=reason,
            algorithm_version=engine.algorithm_version,
            software=SOFTWARE,
        )

    def prescribed(
        self, engine: Engine, looks: LookState, policy_state: Floats, number: int, stratum: int | None
    ) -> list[float] | None:
        """The shares by which a recommendation's arm is drawn; None where the policy chooses by itself."""
        plan, gone = self.plan, dropped(looks)
        if stratum is not None and number < plan.burn_in:
            return stratum_shares(plan, looks, stratum)
        if plan.is_frozen and number >= plan.burn_in:
            return list(looks.shares) or self._shares(engine, engine.first_state, plan.burn_in, gone)
        return self._shares(engine, policy_state, number, gone) if any(gone) else None

    def choose(
        self,
        engine: Engine,
        looks: LookState,
        policy_state: Floats,
        number: int,
        stratum: int | None,
        epoch: str = "",
    ) -> Choice:
        """An arm, by prescribed shares or by the policy itself; raises whatever the policy raises."""
        shares = self.prescribed(engine, looks, policy_state, number, stratum)
        if shares is None:
            return engine.choose(policy_state, number, epoch)
        return engine.allocate(policy_state, number, shares, epoch)

    def _shares(self, engine: Engine, policy_state: Floats, number: int, gone: Sequence[bool]) -> list[float]:
        """The policy's probabilities for a recommendation to come, of the arms left."""
        return engine.stated_shares(policy_state, number, gone)

    def _shares_or_equal(
        self, engine: Engine, policy_state: Floats, number: int, gone: Sequence[bool]
    ) -> tuple[tuple[float, ...], str]:
        """The shares until the next look; equal ones if the policy fails, and why."""
        try:
            return tuple(self._shares(engine, policy_state, number, gone)), ""
        except UnavailableError:
            raise
        except OF_THE_MACHINE as error:
            raise unavailable(engine.policy, error) from error
        except Exception as error:
            shares = [0.0] * self.plan.n_arms
            shares_left(shares, gone, self.plan.n_arms)
            return tuple(shares), reason_of(error)


_lookers: WeakKeyDictionary[Engine, Looker] = WeakKeyDictionary()


def looker_of(design: Design, engine: Engine) -> Looker | None:
    """What looks at the trial with an engine; None of a design that neither looks nor prescribes the allocation."""
    if not has_looks(design):
        return None
    if engine not in _lookers:
        _lookers[engine] = Looker(design)
    return _lookers[engine]


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
    """The recommendations of a trial in order, except entry errors, and the order in which their outcomes came."""
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
