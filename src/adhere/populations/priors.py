"""The random priors of the paper's trial of 12 patients: each run has a fresh population with two arms.

Each run draws the arms' mean rewards, and the probability of compliance for each chosen arm. All are uniform on [0,
1]. The paper does not say what a non-complier takes. The three priors are three possible answers.
"""

from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

import numpy as np

from adhere.errors import InputError, nearest
from adhere.populations.population import Floats, PatientTables, Population
from adhere.randomness import POPULATION, check_seed, stream_keys, uniforms

Instead = Literal["other", "any", "better"]

ARMS: Final = ("first", "second")

# The sixteen types of patient: the arm taken for each chosen arm, and the reward of each arm if taken.
_TYPES: Final = np.array(list(product((0, 1), repeat=4)))
_ACTUAL: Final = _TYPES[:, :2].T
_REWARD: Final = np.take_along_axis(_TYPES[:, 2:], _TYPES[:, :2], axis=1).T

# Closed forms, averaged over the prior. Compliance is 1/2 on average and independent of the rewards. Each arm is the
# better one with probability 1/2, and E[r_a · 1(a is better)] = E[max] / 2 = 1/3.
_COMPLIANCE: Final = {
    "other": ((1 / 2, 1 / 2), (1 / 2, 1 / 2)),
    "any": ((3 / 4, 1 / 4), (1 / 4, 3 / 4)),
    "better": ((3 / 4, 1 / 4), (1 / 4, 3 / 4)),
}
_REWARD_MASS: Final = {
    "other": ((1 / 4, 1 / 4), (1 / 4, 1 / 4)),
    "any": ((3 / 8, 1 / 8), (1 / 8, 3 / 8)),
    "better": ((5 / 12, 1 / 6), (1 / 6, 5 / 12)),
}


@dataclass(frozen=True, repr=False)
class RandomPrior(Population):
    """A population that is drawn afresh for each run; `instead` says what a non-complier takes.

    Given a run's population, a patient's two compliance decisions and two Bernoulli rewards are independent, and one
    draw decides all four (D = 1). "better" is the arm with the higher mean reward in that run, which the patients
    know but the bandit does not. `compliance`, `reward_mass` and the means derived from them are averages over both
    patients and prior, in closed form.
    """

    instead: Instead

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_arms != 2:
            raise InputError("arms", self.arms, "two arms")
        if self.instead not in _COMPLIANCE:
            raise InputError("instead", self.instead, nearest(str(self.instead), _COMPLIANCE))

    @property
    def reward_values(self) -> tuple[float, ...]:
        """Every reward that can occur: 0 and 1."""
        return (0.0, 1.0)

    def compliance(self) -> Floats:
        """Return P(actual a | chosen c), as an array [chosen, actual], averaged over the prior."""
        return np.array(_COMPLIANCE[self.instead])

    def reward_mass(self) -> Floats:
        """Return E[R · 1(actual a) | chosen c], as an array [chosen, actual], averaged over the prior."""
        return np.array(_REWARD_MASS[self.instead])

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        """Return the tables from which the patients of each run are drawn, one row per run."""
        keys = stream_keys(check_seed(seed), first_run, n_runs)
        decision = np.array([0])
        drawn = np.hstack([uniforms(keys, decision, POPULATION, draw) for draw in range(4)])
        rewards, complies = drawn[:, :2], drawn[:, 2:]
        takes_second = complies * [0, 1] + (1 - complies) * self._second_instead(rewards)
        weights = np.ones((n_runs, len(_TYPES)))
        for probability, is_one in zip(np.hstack([takes_second, rewards]).T, _TYPES.T == 1, strict=True):
            weights *= np.where(is_one, probability[:, None], 1 - probability[:, None])
        means = (1 - takes_second) * rewards[:, :1] + takes_second * rewards[:, 1:]
        return PatientTables.from_weights(weights[:, None, :], _ACTUAL, _REWARD, means)

    def _second_instead(self, rewards: Floats) -> Floats:
        """Return the probability that a non-complier takes the second arm, for each run and chosen arm."""
        if self.instead == "other":
            return np.array([[1.0, 0.0]])
        if self.instead == "any":
            return np.array([[0.5, 0.5]])
        return (rewards[:, 1:] > rewards[:, :1]).astype(np.float64)


def uniform_other() -> RandomPrior:
    """Return the prior in which a non-complier takes the other arm."""
    return RandomPrior("uniform-other", ARMS, "other")


def uniform_any() -> RandomPrior:
    """Return the prior in which a non-complier takes an arm at random."""
    return RandomPrior("uniform-any", ARMS, "any")


def uniform_corrective() -> RandomPrior:
    """Return the prior in which a non-complier takes the arm with the higher mean reward."""
    return RandomPrior("uniform-corrective", ARMS, "better")
