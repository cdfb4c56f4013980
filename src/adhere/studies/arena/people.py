"""Many populations at once, each made of strata of people who behave alike, and what is true in each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adhere.populations import PatientTables
from adhere.populations.population import Floats, Integers


def n_behaviours(n_arms: int) -> int:
    """How many behaviours there are: to comply, to take one arm whatever is recommended, to defy.

    >>> n_behaviours(2)
    4
    """
    return n_arms + 2


def responses(n_arms: int) -> Integers:
    """The arm taken, by behaviour and recommendation; a defier takes the next arm (of two: the other one).

    >>> responses(2).tolist()
    [[0, 1], [0, 0], [1, 1], [1, 0]]
    """
    arms = np.arange(n_arms)
    return np.stack([arms, *(np.full(n_arms, arm) for arm in arms), (arms + 1) % n_arms])


@dataclass(frozen=True, eq=False)
class People:
    """Populations of strata, one for each behaviour.

    Attributes
    ----------
    shares
        float64[population, behaviour], the strata's shares of the people, in the order of `responses`.
    rewards
        float64[population, behaviour, arm], P(reward 1) in a stratum of whoever takes an arm.

    """

    shares: Floats
    rewards: Floats

    @property
    def n_arms(self) -> int:
        """How many arms there are, k."""
        return int(self.rewards.shape[2])

    def cells(self) -> Floats:
        """P(actual a, reward r | chosen c), as [population, c, a, r]."""
        takes = responses(self.n_arms)[:, :, None] == np.arange(self.n_arms)  # [behaviour, chosen, actual]
        taken = np.einsum("pb,bca->pbca", self.shares, takes.astype(np.float64))
        gained = np.einsum("pbca,pba->pca", taken, self.rewards)
        return np.stack([taken.sum(axis=1) - gained, gained], axis=-1).clip(0.0)

    def recommendation_means(self) -> Floats:
        """E[R | chosen c], as [population, arm]: everybody is recommended the arm."""
        means: Floats = self.cells()[..., 1].sum(axis=2)
        return means

    def treatment_means(self) -> Floats:
        """E[R if everybody took a], as [population, arm]."""
        means: Floats = np.einsum("pb,pba->pa", self.shares, self.rewards)
        return means

    def complier_means(self) -> Floats:
        """E[R if a complier took a], as [population, arm]; NaN where nobody complies."""
        return np.where(self.shares[:, :1] > 0, self.rewards[:, 0], np.nan)

    def best_surplus(self) -> Floats:
        """What the best recommendation gains for each patient over a random one, by population."""
        means = self.recommendation_means()
        best: Floats = means.max(axis=1) - means.mean(axis=1)
        return best

    def tables(self) -> PatientTables:
        """How patients are drawn, a row for each population; each arm has a draw of its own."""
        cells, n_arms = self.cells(), self.n_arms
        actual, reward = np.divmod(np.tile(np.arange(2 * n_arms), (n_arms, 1)), 2)
        weights = cells.reshape(len(cells), n_arms, 2 * n_arms)
        return PatientTables.from_weights(weights, actual, reward.astype(np.float64), self.recommendation_means())
