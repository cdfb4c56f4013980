"""Recipes from which populations are drawn, with the same random numbers for everybody who uses the seed."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adhere.populations import PatientTables
from adhere.populations.population import Floats, Integers
from adhere.randomness import POPULATION, stream_keys, uniforms


class Draws:
    """The random numbers of one attempt to draw populations of a family, one row per population.

    Population i has the key of run i, independent of the other populations drawn. A family's name is part of the key,
    so that families with the same seed are unrelated.
    """

    def __init__(self, name: str, seed: int, populations: Integers, attempt: int) -> None:
        own_seed = (seed << 32 | zlib.crc32(name.encode())) % 2**64
        self._keys = stream_keys(own_seed, 0, int(populations.max()) + 1)[populations]
        self._attempt, self._drawn = np.array([attempt]), 0

    def uniform(self, n: int, low: float = 0.0, high: float = 1.0) -> Floats:
        """Return the next n numbers, uniform between two bounds."""
        first, self._drawn = self._drawn, self._drawn + n
        columns = [uniforms(self._keys, self._attempt, POPULATION, draw) for draw in range(first, first + n)]
        drawn: Floats = low + (high - low) * np.hstack(columns)
        return drawn

    def shares(self, n: int) -> Floats:
        """Return the next n shares that sum to 1, all combinations equally likely: Dirichlet(1, …, 1)."""
        parts = -np.log1p(-self.uniform(n))
        summed: Floats = parts / parts.sum(axis=1, keepdims=True)
        return summed


def n_behaviours(n_arms: int) -> int:
    """Return the number of behaviours: to comply, to always take a certain arm, and to defy.

    >>> n_behaviours(2)
    4
    """
    return n_arms + 2


def responses(n_arms: int) -> Integers:
    """Return the arm taken, by behaviour and recommendation. A defier takes the next arm (with two arms, the other
    one).

    >>> responses(2).tolist()
    [[0, 1], [0, 0], [1, 1], [1, 0]]
    """
    arms = np.arange(n_arms)
    return np.stack([arms, *(np.full(n_arms, arm) for arm in arms), (arms + 1) % n_arms])


@dataclass(frozen=True, eq=False)
class People:
    """Populations of compliance types, one type per behaviour.

    Attributes
    ----------
    shares
        float64[population, behaviour], the share of each compliance type, in the order of `responses`.
    rewards
        float64[population, behaviour, arm], P(reward 1) in a compliance type for people who take an arm.

    """

    shares: Floats
    rewards: Floats

    @property
    def n_arms(self) -> int:
        """The number of arms, k."""
        return int(self.rewards.shape[2])

    def cells(self) -> Floats:
        """Return P(actual a, reward r | chosen c), as [population, c, a, r]."""
        takes = responses(self.n_arms)[:, :, None] == np.arange(self.n_arms)  # [behaviour, chosen, actual]
        taken = np.einsum("pb,bca->pbca", self.shares, takes.astype(np.float64))
        gained = np.einsum("pbca,pba->pca", taken, self.rewards)
        return np.stack([taken.sum(axis=1) - gained, gained], axis=-1).clip(0.0)

    def recommendation_means(self) -> Floats:
        """Return E[R | chosen c], as [population, arm]: everybody is recommended the arm."""
        means: Floats = self.cells()[..., 1].sum(axis=2)
        return means

    def treatment_means(self) -> Floats:
        """Return E[R if everybody took a], as [population, arm]."""
        means: Floats = np.einsum("pb,pba->pa", self.shares, self.rewards)
        return means

    def complier_means(self) -> Floats:
        """Return E[R if a complier took a], as [population, arm]; NaN if nobody complies."""
        return np.where(self.shares[:, :1] > 0, self.rewards[:, 0], np.nan)

    def best_surplus(self) -> Floats:
        """Return what the best recommendation gains per patient over a random recommendation, by population."""
        means = self.recommendation_means()
        best: Floats = means.max(axis=1) - means.mean(axis=1)
        return best

    def tables(self) -> PatientTables:
        """Return the tables that patients are drawn from, one row per population. Each arm has its own draw."""
        cells, n_arms = self.cells(), self.n_arms
        actual, reward = np.divmod(np.tile(np.arange(2 * n_arms), (n_arms, 1)), 2)
        weights = cells.reshape(len(cells), n_arms, 2 * n_arms)
        return PatientTables.from_weights(weights, actual, reward.astype(np.float64), self.recommendation_means())


Range = tuple[float, float]
PROGNOSIS: Range = (0.2, 0.8)  # of the mildly confounded families
EFFECT: Range = (-0.2, 0.2)
WEAK: Range = (0.1, 0.3)
STRONG: Range = (0.8, 0.95)
DEFYING: Range = (0.1, 0.5)
Recipe = Callable[[Draws, int], People]


def unconfounded(draws: Draws, n_arms: int) -> People:
    """Draw populations in which a person's reward depends only on the arm taken."""
    return People(_shares(draws, n_arms), _alike(draws.uniform(n_arms)))


def confounded(draws: Draws, n_arms: int, comply: Range = (0.0, 1.0), defy: Range = (0.0, 0.0)) -> People:
    """Draw populations in which rewards differ between behaviours. Compliers and defiers have shares within
    ranges.
    """
    return People(_shares(draws, n_arms, comply, defy), _rewards(draws, n_arms))


def mildly_confounded(draws: Draws, n_arms: int) -> People:
    """Draw populations in which each arm has the same effect on everybody, but prognosis differs between
    behaviours.
    """
    prognosis = draws.uniform(n_behaviours(n_arms), *PROGNOSIS)
    return People(_shares(draws, n_arms), prognosis[:, :, None] + draws.uniform(n_arms, *EFFECT)[:, None, :])


def corrective(draws: Draws, n_arms: int) -> People:
    """Draw confounded populations in which people who always take an arm gain most from it."""
    rewards = _rewards(draws, n_arms)
    for arm in range(n_arms):
        own = rewards[:, arm + 1]  # of the people who always take it
        rows, best = np.arange(len(own)), own.argmax(axis=1)
        own[rows, best], own[:, arm] = own[:, arm].copy(), own.max(axis=1)
    return People(_shares(draws, n_arms), rewards)


def uniform_other(draws: Draws, n_arms: int) -> People:
    """Draw `uniform-other` populations: rewards and compliances are uniform; non-compliers take the other arm."""
    rewards = draws.uniform(n_arms)
    follows_first, follows_second = draws.uniform(2).T
    shares = [
        follows_first * follows_second,
        follows_first * (1 - follows_second),
        (1 - follows_first) * follows_second,
        (1 - follows_first) * (1 - follows_second),
    ]
    return People(np.stack(shares, axis=1), _alike(rewards))


def _alike(rewards: Floats) -> Floats:
    """Return the same rewards for every behaviour."""
    return np.repeat(rewards[:, None, :], n_behaviours(rewards.shape[1]), axis=1)


def _rewards(draws: Draws, n_arms: int) -> Floats:
    """Return the reward of every arm in every compliance type, uniform on [0, 1]."""
    return draws.uniform(n_behaviours(n_arms) * n_arms).reshape(-1, n_behaviours(n_arms), n_arms)


def _shares(draws: Draws, n_arms: int, comply: Range = (0.0, 1.0), defy: Range = (0.0, 0.0)) -> Floats:
    """Return the shares: defiers, then compliers among the rest, each within a range; the others are split at
    random.
    """
    defiers, compliers = draws.uniform(1, *defy), draws.uniform(1, *comply)
    others = (1 - compliers) * draws.shares(n_arms)
    return np.hstack([(1 - defiers) * np.hstack([compliers, others]), defiers])
