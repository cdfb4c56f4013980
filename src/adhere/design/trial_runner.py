"""Plays trials of one design on one population."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from adhere.design.outcomes import Floats, TrialOutcomes
from adhere.populations import PatientTables, Population
from adhere.simulation.plan import Integers
from adhere.trial.design import Design

Started: TypeAlias = Callable[[], TrialOutcomes]


class TrialRunner:
    """Plays trials of one design on one population, on processors or on a GPU: the same results, to the bit.

    `grid` has the numbers of patients at which allocation so far is noted, in increasing order. With `true_effects`
    (by arm and view, NaN where not known) the confidence sequence of each pair is computed too, and whether it has
    them; without, nothing of it is compiled.
    """

    def __init__(
        self, design: Design, population: Population, grid: Integers, true_effects: Floats | None, device: str = "cpu"
    ) -> None:
        raise NotImplementedError

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Whether nothing is left to compile."""
        raise NotImplementedError

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load the tables that the policy looks things up in, or compute them."""
        raise NotImplementedError

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""
        raise NotImplementedError

    def start(self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers) -> Started:
        """Start some trials; what is returned waits until they are through, and returns what they leave behind.

        `done[0]` counts patients; a non-zero `stop[0]` ends it.
        """
        raise NotImplementedError
