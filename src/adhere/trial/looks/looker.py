"""A look at a live trial: the evidence gathered, judged by the design's rules, and the shares of arms until the next.

The rules are those that simulated trials of the design run compiled; here they run as Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

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
from adhere.trial.domain.events import Looked, Recommended
from adhere.trial.domain.history import History
from adhere.trial.looks.look_state import LookState, dropped, has_looks, look_plan, stratum_shares
from adhere.trial.looks.look_wealth import wealth_of
from adhere.trial.policy.engine import Choice, Engine, Floats
from adhere.trial.policy.failures import OF_THE_MACHINE, reason_of, unavailable

SOFTWARE = version("adhere")
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
