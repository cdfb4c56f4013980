"""A scenario: what one trial of a design would meet, and what is true there."""

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adhere.evaluation.outcomes import VIEWS, Floats
from adhere.populations import ComplianceTypes, Population

Null: TypeAlias = Literal["sharp", "average"]


@dataclass(frozen=True, repr=False)
class Scenario:
    """A population, and what is known of it from how it was made.

    `null` says which null hypothesis holds, if one does: "sharp", where the reward is the same in each
    compliance type whatever is taken, or "average", where effects differ but the mean reward is the same whichever
    arm is chosen. `effect`, `compliance` and `confounding` are its place in a grid, `baseline` is the mean outcome
    of those who comply without an effect; None where it is none of a grid. `average_null` is what half of those who
    comply gain and the others lose, where it is the average null of a grid.
    """

    name: str
    population: Population
    null: Null | None = None
    effect: float | None = None
    compliance: float | None = None
    confounding: float | None = None
    baseline: float | None = None
    average_null: float | None = None

    def __repr__(self) -> str:
        known = ((one.name, getattr(self, one.name)) for one in fields(self) if one.name != "population")
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in known if value is not None)})"


SAME = 1e-9  # mean outcomes closer than this are the same: they are sums of products of floats
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Truth:
    """The mean outcomes of a scenario, arm by arm.

    Attributes
    ----------
    means
        E[R | chosen], by arm: what recommending an arm leads to (intention-to-treat).
    if_taken
        The mean outcome if everybody took the arm; NaN where the scenario does not say (a compliance type without
        a reward for an arm that it never takes, or a population that is a table of records).
    complier_effects
        For each arm but the one it is compared with, the mean effect of taking it rather than that one on those who
        take either when it is recommended; NaN where there are none, or nobody knows who they are.
    control
        The number of the control; None without one.
    null
        Which null hypothesis holds, if one does.
    varies
        Whether each trial has a population of its own, drawn from a prior. `means` are then averages over the prior,
        and effects have no one true value.

    """

    means: Floats
    if_taken: Floats
    complier_effects: Floats
    control: int | None
    null: Null | None
    varies: bool

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return len(self.means)

    @property
    def compared_with(self) -> int:
        """The arm that effects are differences from: the control, or arm 0 where there is none."""
        return 0 if self.control is None else self.control

    @property
    def is_best(self) -> Bools:
        """Which arms are the best to recommend; several where they are equally good."""
        return best_arms(self.means)

    @property
    def effects(self) -> Floats:
        """The true effect of each arm against `compared_with`, [arm, view]; NaN where it is not known."""
        effects = np.full((self.n_arms, len(VIEWS)), np.nan)
        if not self.varies:
            effects[:, 0] = self.means - self.means[self.compared_with]
            effects[:, 1] = self.complier_effects
            effects[np.abs(effects) <= SAME] = 0.0
        return effects


def best_arms(means: Floats) -> Bools:
    """Which arms have the highest mean, [..., arm]; several where they are the same. NaN: none."""
    best: Bools = means >= means.max(axis=-1, keepdims=True) - SAME
    return best


def truth_of(scenario: Scenario, control: int | None = None, lower_is_better: bool = False) -> Truth:
    """True means and effects in a scenario, for a design with this control; of 1 − the outcome if lower is better."""
    population = scenario.population
    n_arms = population.n_arms
    nothing = np.full(n_arms, np.nan)
    if isinstance(population, ComplianceTypes):
        compared_with = 0 if control is None else control
        effects = [_complier_effect(population, arm, compared_with) for arm in range(n_arms)]
        if_taken, complier_effects = _if_taken(population), np.array(effects)
    else:
        if_taken = complier_effects = nothing
    varies, means = population.tables(0, 0, 2).means.shape[0] > 1, population.mean_given_chosen()
    if lower_is_better:
        means, if_taken, complier_effects = 1.0 - means, 1.0 - if_taken, -complier_effects
    return Truth(means, if_taken, complier_effects, control, scenario.null, varies)


def null_of(population: Population) -> Null | None:
    """Which null hypothesis holds in a population.

    Of a population that is not made of compliance types it is not known whether a null is sharp.
    """
    if population.tables(0, 0, 2).means.shape[0] > 1 or np.ptp(population.mean_given_chosen()) > SAME:
        return None
    return "sharp" if isinstance(population, ComplianceTypes) and _is_sharp(population) else "average"


def _is_sharp(population: ComplianceTypes) -> bool:
    """Whether the rewards of each compliance type, as far as they are given, are the same whatever is taken."""
    means = [[mean for mean in one.reward if mean is not None] for one in population.types if one.probability > 0]
    return all(max(given) - min(given) <= SAME for given in means)


def _if_taken(population: ComplianceTypes) -> Floats:
    """The mean reward if everybody took an arm; NaN where a compliance type's is not given."""
    rewards = np.array([one.reward for one in population.types], dtype=np.float64)  # None becomes NaN
    weights = np.array([one.probability for one in population.types])
    present = weights > 0
    means: Floats = weights[present] @ rewards[present] / weights.sum()
    return means


def _complier_effect(population: ComplianceTypes, arm: int, other: int) -> float:
    """The mean effect of an arm against another on those who take each of the two when it is chosen."""
    compliers = [
        one for one in population.types if one.probability > 0 and one.takes[arm] == arm and one.takes[other] == other
    ]
    if arm == other or not compliers:
        return float("nan")
    gains = [one.reward_when_chosen(arm) - one.reward_when_chosen(other) for one in compliers]
    return float(np.average(gains, weights=[one.probability for one in compliers]))
