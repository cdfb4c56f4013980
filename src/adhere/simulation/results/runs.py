"""Values of each run of a simulation, for users who want to keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adhere.memory import bytes_text
from adhere.simulation.measures.measure import MEASURES, Floats
from adhere.simulation.measures.moments import EqualArrays
from adhere.simulation.results.lookup import HasFrame
from adhere.simulation.results.outcome import Outcome

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeRuns(EqualArrays):
    """The runs of one policy on one population, as an array [measure or share of an arm, run]."""

    population: str
    policy: str
    arms: tuple[str, ...]
    numbers: Floats

    @property
    def columns(self) -> dict[str, Floats]:
        """The numbers of all runs, by column name."""
        names = [*MEASURES, *(f"allocation_{arm}" for arm in self.arms)]
        return dict(zip(names, self.numbers, strict=True))


@dataclass(frozen=True, repr=False)
class Runs(HasFrame):
    """Final surplus, realised surplus, reward, regret and allocation of each run, for every policy and population."""

    by_outcome: tuple[OutcomeRuns, ...]

    def __len__(self) -> int:
        return sum(one.numbers.shape[1] for one in self.by_outcome)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(name for one in self.by_outcome for name in one.columns))
        names = names if len(names) <= 200 else f"{names[:199]}…"
        return f"Runs: {len(self):,} rows, {bytes_text(self.n_bytes)}; see .to_polars(), .to_pandas()\n  {names}"

    @property
    def n_bytes(self) -> int:
        """Memory that the runs take, in bytes. A table of them takes the same again."""
        return sum(one.numbers.nbytes for one in self.by_outcome)

    def to_polars(self) -> polars.DataFrame:
        """Return a row for each population, policy and run: population, policy, run, measures, `allocation_ARM` by
        arm.
        """
        from adhere.simulation.results.result_frames import labelled

        whose = [(one.population, one.policy) for one in self.by_outcome]
        columns = [{"run": np.arange(one.numbers.shape[1]), **one.columns} for one in self.by_outcome]
        return labelled(("population", "policy"), whose, columns)

    @staticmethod
    def from_polars(table: polars.DataFrame, outcomes: Sequence[Outcome], n_runs: int) -> Runs:
        """Return the runs from the frame that `to_polars` returned for these outcomes."""
        found = []
        for number, one in enumerate(outcomes):
            rows = table.slice(number * n_runs, n_runs)
            names = [*MEASURES, *(f"allocation_{arm}" for arm in one.arms)]
            numbers = np.stack([rows[name].to_numpy() for name in names])
            found.append(OutcomeRuns(one.population, one.policy, one.arms, numbers))
        return Runs(tuple(found))
