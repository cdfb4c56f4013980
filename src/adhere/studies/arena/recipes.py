"""Recipes by which populations are drawn: the same random numbers for everybody who names the seed."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adhere.populations import PatientTables
from adhere.populations.population import Floats, Integers
from adhere.randomness import POPULATION, stream_keys, uniforms


class Draws:
    """The numbers of one attempt to draw some populations of a family, a row for each population.

    Population i has the key of run i, whatever others are drawn; a family's name is part of the key, so that
    families of one seed have nothing in common.
    """

    def __init__(self, name: str, seed: int, populations: Integers, attempt: int) -> None:
        own_seed = (seed << 32 | zlib.crc32(name.encode())) % 2**64
        self._keys = stream_keys(own_seed, 0, int(populations.max()) + 1)[populations]
        self._attempt, self._drawn = np.array([attempt]), 0

    def uniform(self, n: int, low: float = 0.0, high: float = 1.0) -> Floats:
        """The next n numbers, uniform between two bounds."""
        first, self._drawn = self._drawn, self._drawn + n
        columns = [uniforms(self._keys, self._attempt, POPULATION, draw) for draw in range(first, first + n)]
        drawn: Floats = low + (high - low) * np.hstack(columns)
        return drawn

    def shares(self, n: int) -> Floats:
        """The next n shares that sum to 1, all combinations equally likely: Dirichlet(1, …, 1)."""
        parts = -np.log1p(-self.uniform(n))
        summed: Floats = parts / parts.sum(axis=1, keepdims=True)
        return summed


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
    """Populations of compliance types, one for each behaviour.

    Attributes
    ----------
    shares
        float64[population, behaviour], the compliance types' shares of the people, in the order of `responses`.
    rewards
        float64[population, behaviour, arm], P(reward 1) in a compliance type of whoever takes an arm.

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


Range = tuple[float, float]
PROGNOSIS: Range = (0.2, 0.8)  # of the mildly confounded
EFFECT: Range = (-0.2, 0.2)
WEAK: Range = (0.1, 0.3)
STRONG: Range = (0.8, 0.95)
DEFYING: Range = (0.1, 0.5)
Recipe = Callable[[Draws, int], People]


def unconfounded(draws: Draws, n_arms: int) -> People:
    """What a person gains depends on the arm taken alone."""
    return People(_shares(draws, n_arms), _alike(draws.uniform(n_arms)))


def confounded(draws: Draws, n_arms: int, comply: Range = (0.0, 1.0), defy: Range = (0.0, 0.0)) -> People:
    """Whoever behaves in another way gains otherwise, too; compliers and defiers have shares within ranges."""
    return People(_shares(draws, n_arms, comply, defy), _rewards(draws, n_arms))


def mildly_confounded(draws: Draws, n_arms: int) -> People:
    """Each arm does the same to everybody, but whoever behaves in another way has another prognosis."""
    prognosis = draws.uniform(n_behaviours(n_arms), *PROGNOSIS)
    return People(_shares(draws, n_arms), prognosis[:, :, None] + draws.uniform(n_arms, *EFFECT)[:, None, :])


def corrective(draws: Draws, n_arms: int) -> People:
    """As confounded, but whoever always takes an arm gains most by it."""
    rewards = _rewards(draws, n_arms)
    for arm in range(n_arms):
        own = rewards[:, arm + 1]  # of those who always take it
        rows, best = np.arange(len(own)), own.argmax(axis=1)
        own[rows, best], own[:, arm] = own[:, arm].copy(), own.max(axis=1)
    return People(_shares(draws, n_arms), rewards)


def uniform_other(draws: Draws, n_arms: int) -> People:
    """The population `uniform-other`: both rewards and both compliances uniform; non-compliers take the other arm."""
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
    """The same rewards whatever the behaviour."""
    return np.repeat(rewards[:, None, :], n_behaviours(rewards.shape[1]), axis=1)


def _rewards(draws: Draws, n_arms: int) -> Floats:
    """The reward of every arm in every compliance type, uniform on [0, 1]."""
    return draws.uniform(n_behaviours(n_arms) * n_arms).reshape(-1, n_behaviours(n_arms), n_arms)


def _shares(draws: Draws, n_arms: int, comply: Range = (0.0, 1.0), defy: Range = (0.0, 0.0)) -> Floats:
    """Defiers and, of the rest, compliers between two shares; the others divided at random over the arms."""
    defiers, compliers = draws.uniform(1, *defy), draws.uniform(1, *comply)
    others = (1 - compliers) * draws.shares(n_arms)
    return np.hstack([(1 - defiers) * np.hstack([compliers, others]), defiers])
