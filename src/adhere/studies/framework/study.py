"""What a study is: experiments to simulate, tables made of their results, and a section rendered from the tables.

Simulating takes minutes and leaves tables; rendering takes a second and reads nothing else. So a study that has run
can be rendered again, and every number in a report comes from a file beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

import polars

from adhere.populations import PopulationLike, as_population
from adhere.report.section import Claim, Listing, ReportFigure, Section
from adhere.simulation import SimulationResult

Tables = Mapping[str, polars.DataFrame]
F = TypeVar("F")
G = TypeVar("G", contravariant=True)
QUICK_SHARE = 10  # a quick study has a tenth of the runs


@dataclass(frozen=True)
class Experiment:
    """One call of `simulate`, without the seed."""

    policies: Sequence[str]
    populations: Sequence[PopulationLike]
    n_patients: int
    n_runs: int
    reference: str | None = None
    grid: int | Sequence[int] | None = None
    pooled: bool = False

    @property
    def total_patients(self) -> int:
        """How many patients are simulated in all."""
        return len(self.policies) * len(self.populations) * self.n_patients * self.n_runs

    def compositions(self) -> list[tuple[str, int]]:
        """Every policy with how many arms it has."""
        sizes = [as_population(one).n_arms for one in self.populations]
        return [(policy, n_arms) for n_arms in sizes for policy in self.policies]


class Claims(Protocol[G]):
    """A study's module `claims`: sentences and claims, made of its facts."""

    def question(self, facts: G) -> str:
        """What the study asks."""

    def result(self, facts: G) -> str:
        """What it found: one sentence, of 40 words at most and without intervals."""

    def uncertainty(self, facts: G) -> str:
        """How uncertain that is."""

    def details(self, facts: G) -> list[str]:
        """How it was done, and what else was found."""

    def make_claims(self, facts: G) -> list[Claim]:
        """The paper's claims beside what was found."""


class Figures(Protocol[G]):
    """A study's module `figures`: figures and listings, made of its facts."""

    def make_figures(self, facts: G) -> list[ReportFigure]:
        """All figures, the main one first."""

    def make_listings(self, facts: G) -> list[Listing]:
        """All listings."""


@dataclass(frozen=True)
class Study(Generic[F]):
    """A study.

    Parameters
    ----------
    name
        The name of its folder of data files, and of `--study`.
    title
        The heading of its section.
    plan
        The simulations by name, at full size.
    tables
        Given their results by name, the tables that are kept as data files.
    facts
        Given the tables, what claims and figures look up in them.
    claims, figures
        The modules that make the section of the facts.
    credits
        Whose data it is, where it is not simulated.
    headline
        Given the facts, the figure for the top of the report, where the study has one.

    """

    name: str
    title: str
    plan: Mapping[str, Experiment]
    tables: Callable[[Mapping[str, SimulationResult]], Tables]
    facts: Callable[[Tables], F]
    claims: Claims[F]
    figures: Figures[F]
    credits: str = ""
    headline: Callable[[F], ReportFigure] | None = None

    def experiments(self, quick: bool) -> dict[str, Experiment]:
        """The simulations by name: as planned, or with a tenth of the runs, but at least two."""
        share = QUICK_SHARE if quick else 1
        return {name: replace(one, n_runs=max(2, one.n_runs // share)) for name, one in self.plan.items()}

    def render(self, tables: Tables) -> Section:
        """The section of the report, made of the tables alone."""
        facts = self.facts(tables)
        return Section(
            self.name,
            self.title,
            question=self.claims.question(facts),
            result=self.claims.result(facts),
            uncertainty=self.claims.uncertainty(facts),
            details=self.claims.details(facts),
            claims=self.claims.make_claims(facts),
            figures=self.figures.make_figures(facts),
            listings=self.figures.make_listings(facts),
            credits=self.credits,
            headline=self.headline(facts) if self.headline else None,
        )
