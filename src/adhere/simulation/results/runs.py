"""What each run of a simulation came to, where a user wants it kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adhere.errors import InputError
from adhere.memory import available_memory, bytes_text
from adhere.simulation.measures.measure import MEASURES, Floats
from adhere.simulation.measures.moments import EqualArrays
from adhere.simulation.plan import Plan
from adhere.simulation.results.outcome import Outcome

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeRuns(EqualArrays):
    """The runs of one policy on one population: [measure or share of an arm, run]."""

    population: str
    policy: str
    arms: tuple[str, ...]
    numbers: Floats

    @property
    def columns(self) -> dict[str, Floats]:
        """The numbers of all runs by what they are."""
        names = [*MEASURES, *(f"allocation_{arm}" for arm in self.arms)]
        return dict(zip(names, self.numbers, strict=True))


@dataclass(frozen=True, repr=False)
class Runs:
    """Each run's final surplus, realised surplus, reward, regret and allocation, of every policy and population."""

    by_outcome: tuple[OutcomeRuns, ...]

    def __len__(self) -> int:
        return sum(one.numbers.shape[1] for one in self.by_outcome)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(name for one in self.by_outcome for name in one.columns))
        names = names if len(names) <= 200 else f"{names[:199]}…"
        return f"Runs: {len(self):,} rows, {bytes_text(self.n_bytes)}; see .to_polars(), .to_pandas()\n  {names}"

    @property
    def n_bytes(self) -> int:
        """How much memory they take; a table of them takes as much again."""
        return sum(one.numbers.nbytes for one in self.by_outcome)

    def to_polars(self) -> polars.DataFrame:
        """A row for each population, policy and run: population, policy, run, measures, `allocation_ARM` by arm."""
        import polars

        kinds = {
            name: polars.Enum(list(dict.fromkeys(getattr(one, name) for one in self.by_outcome)))
            for name in ("population", "policy")
        }
        frames = []
        for one in self.by_outcome:
            who = [polars.lit(getattr(one, name), kind).alias(name) for name, kind in kinds.items()]
            numbers = {"run": np.arange(one.numbers.shape[1]), **one.columns}
            frames.append(polars.DataFrame(numbers).select(*who, polars.all()))
        return polars.concat(frames, how="diagonal")

    def to_pandas(self) -> pandas.DataFrame:
        """What `to_polars` gives, as a frame of pandas (extra `pandas`)."""
        from adhere.frames import as_pandas

        return as_pandas(self.to_polars())

    @staticmethod
    def from_polars(table: polars.DataFrame, outcomes: Sequence[Outcome], n_runs: int) -> Runs:
        """What `to_polars` gave for these outcomes."""
        found = []
        for number, one in enumerate(outcomes):
            rows = table.slice(number * n_runs, n_runs)
            names = [*MEASURES, *(f"allocation_{arm}" for arm in one.arms)]
            numbers = np.stack([rows[name].to_numpy() for name in names])
            found.append(OutcomeRuns(one.population, one.policy, one.arms, numbers))
        return Runs(tuple(found))


def memory_for(plan: Plan) -> int:
    """How many bytes it takes to keep every run of a plan."""
    shares = [population.n_arms for population in plan.populations] + [0] * plan.pooled
    return 8 * plan.n_runs * len(plan.policies) * sum(len(MEASURES) + n_arms for n_arms in shares)


def memory_said(plan: Plan) -> str:
    """What to tell a user about that."""
    return f"keeping every run takes {bytes_text(memory_for(plan))} of memory, a table of them as much again"


def check_memory(plan: Plan) -> None:
    """Refuse to keep more runs than there is memory for."""
    needed, available = memory_for(plan), available_memory()
    if available is not None and needed > available:
        sentence = (
            f"keep_runs: {plan.n_runs:,} runs take {bytes_text(needed)} of memory, and {bytes_text(available)} are"
            " available: keep fewer runs, or none"
        )
        raise InputError("keep_runs", True, "fewer runs", sentence)
