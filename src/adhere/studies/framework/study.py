"""What a study is: experiments to simulate, tables made of their results, and a section rendered from the tables.

Simulating takes minutes and leaves tables; rendering takes a second and reads nothing else. So a study that has run
can be rendered again, and every number in a report comes from a file beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.simulation import SimulationResult

if TYPE_CHECKING:
    import polars

    Tables = Mapping[str, polars.DataFrame]

QUICK_SHARE = 10  # a quick study has a tenth of the runs


@dataclass(frozen=True)
class Experiment:
    """One call of `simulate`, without the seed."""

    policies: Sequence[str]
    populations: Sequence[object]
    n_patients: int
    n_runs: int
    reference: str | None = None
    grid: int | Sequence[int] | None = None
    pooled: bool = False

    @property
    def total_patients(self) -> int:
        """How many patients are simulated in all."""
        return len(self.policies) * len(self.populations) * self.n_patients * self.n_runs


@dataclass(frozen=True)
class Study:
    """A study.

    Parameters
    ----------
    name
        The name of its folder of data files, and of `--study`.
    title
        The heading of its section.
    experiments
        Given whether the run is quick, the simulations by name.
    tables
        Given their results by name, the tables that are kept as data files.
    render
        Given the tables, the section of the report.

    """

    name: str
    title: str
    experiments: Callable[[bool], Mapping[str, Experiment]]
    tables: Callable[[Mapping[str, SimulationResult]], Tables]
    render: Callable[[Tables], Section]


def runs(full: int, quick: bool) -> int:
    """How many runs: as many as the full study has, or a tenth of them, but at least two.

    >>> runs(2000, quick=True)
    200
    """
    return max(2, full // QUICK_SHARE) if quick else full
