"""Scenarios: the population of a simulated trial, and its true effects."""

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adhere.evaluation.outcomes import VIEWS, Floats
from adhere.populations import ComplianceTypes, Population

Null: TypeAlias = Literal["sharp", "average"]


@dataclass(frozen=True, repr=False)
class Scenario:
    """Population for simulated trials, with the settings from which it was made.

    `null` is the null hypothesis that is true, if any. "sharp" means that the reward in each compliance type is the
    same whatever is taken. "average" means that effects differ, but the mean reward is the same for all arms chosen.

    `effect`, `compliance` and `confounding` are its coordinates in a grid, and `baseline` is the mean outcome of
    compliers without an effect. They are None if the scenario does not belong to a grid. `average_null` is the gain
    of half of the compliers and the loss of the other half, under the average null of a grid.
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


SAME = 1e-9  # mean outcomes closer than this are equal up to rounding
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Truth:
    """True mean outcomes and effects of a scenario, by arm.

    Attributes
    ----------
    means
        E[R | chosen] by arm: the mean outcome if the arm is recommended (intention-to-treat).
    if_taken
        Mean outcome if everybody took the arm. NaN if unknown, because a compliance type has no reward for an arm
        that it never takes, or because the population is a table of records.
    complier_effects
        Mean effect of taking each arm instead of `compared_with`, among people who take either arm when it is
        recommended. NaN if there are none or if they are unknown.
    control
        Index of the control, or None.
    null
        Null hypothesis that is true, if any.
    varies
        Whether each trial has its own population, drawn from a prior. Then `means` are averages over the prior, and
        effects have no single true value.

    """

    means: Floats
    if_taken: Floats
    complier_effects: Floats
    control: int | None
    null: Null | None
    varies: bool

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.means)

    @property
    def compared_with(self) -> int:
        """Index of the arm with which others are compared: the control, or arm 0 if there is none."""
        return 0 if self.control is None else self.control

    @property
    def is_best(self) -> Bools:
        """Return, for each arm, whether it is among the best to recommend."""
        return best_arms(self.means)

    @property
    def effects(self) -> Floats:
        """True effect of each arm against `compared_with`, [arm, view]; NaN if unknown."""
        effects = np.full((self.n_arms, len(VIEWS)), np.nan)
        if not self.varies:
            effects[:, 0] = self.means - self.means[self.compared_with]
            effects[:, 1] = self.complier_effects
            effects[np.abs(effects) <= SAME] = 0.0
        return effects


def best_arms(means: Floats) -> Bools:
    """Return which arms have the highest mean, [..., arm], including ties; no arm if means are NaN."""
    best: Bools = means >= means.max(axis=-1, keepdims=True) - SAME
    return best


def truth_of(scenario: Scenario, control: int | None = None, lower_is_better: bool = False) -> Truth:
    """Return a scenario's true means and effects for a design with this control (of 1 − y if lower is better)."""
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
    """Return the null hypothesis that is true in a population, or None.

    For populations not made of compliance types, it is unknown whether a null is sharp, so the result is "average".
    """
    if population.tables(0, 0, 2).means.shape[0] > 1 or np.ptp(population.mean_given_chosen()) > SAME:
        return None
    return "sharp" if isinstance(population, ComplianceTypes) and _is_sharp(population) else "average"


def _is_sharp(population: ComplianceTypes) -> bool:
    """Return whether the known mean rewards of each compliance type are the same for all arms taken."""
    means = [[mean for mean in one.reward if mean is not None] for one in population.types if one.probability > 0]
    return all(max(given) - min(given) <= SAME for given in means)


def _if_taken(population: ComplianceTypes) -> Floats:
    """Return the mean reward if everybody took an arm; NaN if a compliance type has no reward for it."""
    rewards = np.array([one.reward for one in population.types], dtype=np.float64)  # None becomes NaN
    weights = np.array([one.probability for one in population.types])
    present = weights > 0
    means: Floats = weights[present] @ rewards[present] / weights.sum()
    return means


def _complier_effect(population: ComplianceTypes, arm: int, other: int) -> float:
    """Return the mean effect of an arm against another, among people who take each of them when chosen."""
    compliers = [
        one for one in population.types if one.probability > 0 and one.takes[arm] == arm and one.takes[other] == other
    ]
    if arm == other or not compliers:
        return float("nan")
    gains = [one.reward_when_chosen(arm) - one.reward_when_chosen(other) for one in compliers]
    return float(np.average(gains, weights=[one.probability for one in compliers]))
