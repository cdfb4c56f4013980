"""What is true of the populations that are played: what each recommendation and each treatment is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adhere.populations import Population, Strata
from adhere.populations.population import Floats
from adhere.studies.arena.families import N_POPULATIONS, Family


@dataclass(frozen=True, eq=False)
class Truth:
    """Mean rewards as [unit, arm]; a unit is a population of a family, or a group of runs on a single population.

    Attributes
    ----------
    n_populations
        How many different populations the units are: as many as there are units, or one.
    recommendation
        E[R | chosen c].
    treatment
        E[R if everybody took a]; NaN where it is not known.
    compliers
        E[R if a complier took a], compliers being those who take whatever is recommended; NaN where there are none
        or it is not known.

    """

    n_populations: int
    recommendation: Floats
    treatment: Floats
    compliers: Floats

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return len(self.recommendation)


def truth_of(population: Population, n_groups: int = N_POPULATIONS) -> Truth:
    """What is true of a family; or of a single population, played in groups of runs so that it has intervals, too.

    >>> from adhere.populations import rich_and_poor
    >>> truth = truth_of(rich_and_poor())
    >>> truth.recommendation[0].tolist(), truth.treatment[0].tolist(), truth.compliers[0].tolist()
    ([0.625, 0.5], [0.75, 0.5], [0.5, 0.25])
    """
    if isinstance(population, Family):
        people = population.people
        means = people.recommendation_means(), people.treatment_means(), people.complier_means()
        return Truth(population.n_populations, *means)
    unknown = np.full(population.n_arms, np.nan)
    treatment, compliers = _of_strata(population) if isinstance(population, Strata) else (unknown, unknown)
    every = population.mean_given_chosen(), treatment, compliers
    return Truth(1, *(np.tile(means, (n_groups, 1)) for means in every))


def _of_strata(population: Strata) -> tuple[Floats, Floats]:
    """Means of everybody and of compliers, if they took an arm; NaN where a stratum's reward is not known."""
    shares = np.array([stratum.probability for stratum in population.strata])
    rewards = np.array([[np.nan if r is None else r for r in stratum.reward] for stratum in population.strata])
    comply = np.array([stratum.takes == tuple(range(population.n_arms)) for stratum in population.strata])
    compliers = shares * comply
    if not compliers.any():
        return shares @ rewards, np.full(population.n_arms, np.nan)
    return shares @ rewards, compliers[comply] @ rewards[comply] / compliers.sum()
