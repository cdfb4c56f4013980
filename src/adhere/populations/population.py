"""The base class of populations: what patients take when an arm is chosen, and the reward that follows.

A population is a distribution over (actual arm, reward) for each chosen arm. Simulations draw *counterfactual
patients*: what a patient would take, and which reward would follow, for each arm that might be chosen (Della Penna,
Reid & Balduzzi 2016, Definitions 1 and 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from adhere.checks import check_arms, check_count, check_sums_to_one, check_unit_number
from adhere.errors import InputError
from adhere.randomness import PATIENT, check_seed, stream_keys, uniforms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Allocation = Sequence[float] | Floats | None

BEYOND_EVERY_UNIFORM = 2.0


def headline(name: str, arms: Sequence[str], rewards: Sequence[float]) -> str:
    """Return one line with a population's name, its arms and the rewards that occur."""
    values = ", ".join(f"{value:g}" for value in rewards[:6]) + (", …" if len(rewards) > 6 else "")
    return f"{name}: {len(arms)} arms ({', '.join(arms)}), rewards {values}"


@dataclass(frozen=True, eq=False)
class PatientTables:
    """Tables from which patients are drawn, as read-only arrays for compiled loops.

    A patient is made of D uniform numbers, each of which selects one of C cells. With D = 1 a single draw decides
    what the patient would do and gain under every arm. With D = k each arm has its own draw. The paper does the same
    when it samples a counterfactual patient from each group of the stroke trial.

    Attributes
    ----------
    cumulative
        float64[R, D, C], P(cell <= i). R is 1, or the number of runs if each run has its own population. C is a
        power of two. The last cell with a positive probability, and all cells after it, contain 2.0, which no uniform
        number reaches.
    actual
        int64[k, C], the arm taken if this arm is chosen and its draw selects this cell.
    reward
        float64[k, C], the reward that follows.
    means
        float64[R, k], E[R | chosen c].

    """

    cumulative: Floats
    actual: Integers
    reward: Floats
    means: Floats

    def __post_init__(self) -> None:
        for array in (self.cumulative, self.actual, self.reward, self.means):
            array.setflags(write=False)

    @classmethod
    def from_weights(cls, weights: Floats, actual: Integers, reward: Floats, means: Floats) -> PatientTables:
        """Return the tables of cells with probabilities proportional to `weights[R, D, cell]`."""
        n_cells = weights.shape[-1]
        padding = (1 << (n_cells - 1).bit_length()) - n_cells
        weights = np.pad(weights, [(0, 0), (0, 0), (0, padding)])
        totals = np.cumsum(weights, axis=-1)
        cumulative = np.ascontiguousarray(totals / totals[..., -1:])
        cells = np.arange(n_cells + padding)
        last = cells[-1] - np.argmax(np.flip(weights > 0, axis=-1), axis=-1)
        cumulative[cells >= last[..., None]] = BEYOND_EVERY_UNIFORM
        per_arm = [(0, 0), (0, padding)]
        # All arrays get one memory layout, so that the loop is compiled only once.
        return cls(
            cumulative,
            np.ascontiguousarray(np.pad(actual, per_arm), dtype=np.int64),
            np.ascontiguousarray(np.pad(reward, per_arm), dtype=np.float64),
            np.ascontiguousarray(means),
        )


@dataclass(frozen=True, eq=False)
class CounterfactualPatients:
    """The arm that each patient (row) would take for each chosen arm (column), and the reward that would follow."""

    actual: Integers
    reward: Floats

    def __post_init__(self) -> None:
        self.actual.setflags(write=False)
        self.reward.setflags(write=False)


@dataclass(frozen=True, repr=False)
class Population(ABC):
    """Base class of populations: for each arm recommended, a distribution of the arm taken and the reward.

    A subclass defines the distribution (`tables`, `reward_values`) and its first moments (`compliance`,
    `reward_mass`). Everything else follows from these.

    Parameters
    ----------
    name : str
        Name of the population.
    arms : tuple of str
        Names of the arms, the control first.
    source : str, optional
        Source of the data, which results mention.
    arm_order : str, optional
        Reason for the order of the arms, in words.

    See Also
    --------
    as_population : Make a population from a name, a file or a frame.
    Counts : Patients resampled from records.
    ComplianceTypes : A mixture of compliance types.

    Examples
    --------
    >>> from adhere import Population, as_population
    >>> population = as_population("rich-and-poor")
    >>> isinstance(population, Population), population.arms
    (True, ('control', 'treatment'))
    >>> population.mean_given_chosen().round(3).tolist()
    [0.625, 0.5]

    """

    name: str
    arms: tuple[str, ...]
    source: str = field(default="", kw_only=True)
    arm_order: str = field(default="", kw_only=True, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", check_arms(self.arms))

    def __repr__(self) -> str:
        kind, said = type(self).__name__, headline(self.name, self.arms, self.reward_values)
        return f"{kind}: {said}\n  adhere.describe(population) says more"

    @property
    def n_arms(self) -> int:
        """Number of arms, k."""
        return len(self.arms)

    @property
    @abstractmethod
    def reward_values(self) -> tuple[float, ...]:
        """Every reward that can occur, in ascending order."""

    @abstractmethod
    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        """Return the tables from which these runs' patients are drawn. Only a random prior uses the arguments."""

    @abstractmethod
    def compliance(self) -> Floats:
        """Return P(actual a | chosen c), as an array [chosen, actual]."""

    @abstractmethod
    def reward_mass(self) -> Floats:
        """Return E[R · 1(actual a) | chosen c], as an array [chosen, actual]."""

    def patients(self, seed: int, run: int, n_patients: int) -> CounterfactualPatients:
        """Return the first patients of a run, one row each. They are the same for every policy."""
        run, n_patients = check_count("run", run), check_count("n_patients", n_patients, at_least=1)
        tables = self.tables(check_seed(seed), run, 1)
        keys, decisions = stream_keys(seed, run, 1), np.arange(n_patients)
        draws = [
            np.searchsorted(cumulative, uniforms(keys, decisions, PATIENT, draw)[0], side="right")
            for draw, cumulative in enumerate(tables.cumulative[0])
        ]
        cells = draws if len(draws) == self.n_arms else draws * self.n_arms
        return CounterfactualPatients(
            actual=np.stack([tables.actual[arm, cell] for arm, cell in enumerate(cells)], axis=1),
            reward=np.stack([tables.reward[arm, cell] for arm, cell in enumerate(cells)], axis=1),
        )

    def mean_given_chosen(self) -> Floats:
        """Return E[R | chosen c]: what the protocol Chosen learns about each arm (intention-to-treat)."""
        means: Floats = self.reward_mass().sum(axis=1)
        return means

    def mean_given_actual(self, allocation: Allocation = None) -> Floats:
        """Return E[R | actual a]: what the protocol Actual learns (as-treated). It is NaN if nobody takes the arm.

        `allocation` contains the probability with which each arm is chosen, by default uniform.
        """
        shares = self._allocation(allocation)
        return _ratio(shares @ self.reward_mass(), shares @ self.compliance())

    def mean_given_both(self, allocation: Allocation = None) -> Floats:
        """Return E[R | chosen c, actual a] as an array [chosen, actual]. Comply learns its diagonal (per-protocol).

        An element is NaN if the arm is never chosen, or never taken by patients for whom the other arm was chosen.
        """
        is_chosen = self._allocation(allocation)[:, None] > 0
        return _ratio(self.reward_mass(), self.compliance() * is_chosen)

    def _allocation(self, allocation: Allocation) -> Floats:
        """Return the probability with which each arm is chosen, by default uniform."""
        if allocation is None:
            return np.full(self.n_arms, 1 / self.n_arms)
        if not hasattr(allocation, "__len__") or len(allocation) != self.n_arms:
            raise InputError("allocation", allocation, f"{self.n_arms} probabilities, one per arm")
        shares = [check_unit_number(f"allocation of arm {arm}", share) for arm, share in enumerate(allocation)]
        check_sums_to_one("allocation", shares)
        return np.array(shares)


def _ratio(mass: Floats, probability: Floats) -> Floats:
    ratio = np.full(mass.shape, np.nan)
    np.divide(mass, probability, out=ratio, where=probability > 0)
    return ratio
