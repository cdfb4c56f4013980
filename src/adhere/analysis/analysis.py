"""Everything that the records of a trial say, in one value that prints, shows in a notebook and converts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adhere.analysis.adaptive.aipw import AipwEstimate
    from adhere.analysis.adaptive.allocation_check import AllocationCheck
    from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
    from adhere.analysis.adaptive.randomisation_test import RandomisationTest
    from adhere.analysis.bounding.bounds import Bounds
    from adhere.analysis.bounding.missing import Missing
    from adhere.analysis.fixed_sample.effects import Effects
    from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
    from adhere.analysis.fixed_sample.stratum_balance import StratumBalance
    from adhere.analysis.flow import Flow
    from adhere.analysis.trust.estimands import Estimand
    from adhere.analysis.trust.mediation import Mediation


@dataclass(frozen=True)
class Subgroup:
    """The effects among the patients of one stratum, and their confidence sequences where there are any."""

    n_patients: int
    effects: Effects
    sequences: tuple[ConfidenceSequence, ...]


@dataclass(frozen=True)
class Analysis:
    """What `adhere.analyse` found; `print(analysis.summary())` reads it to you, `.to_html()` is a page.

    `has_probabilities` says whether the records have the probability of every arm for every patient,
    `n_without_probabilities` how many patients lack it, `adaptive` whether it changed from one patient to the next,
    `order` where the order of decisions comes from, `arm_order` what decided the order of arms and the control of a
    table. `digest` is that of the data, so that another analysis can be known to be of the same.
    `lower_is_better` says that outcomes were read as 1 − the value given, `fixed_allocation` that whoever analysed
    declared the probabilities of arms fixed in advance, and this the only look. `rehearsal` says that the records are
    not data of a trial, `outcomes_drifted` that outcomes changed over time while the allocation adapted.
    """

    name: str
    source: str
    digest: str
    head: str
    version: str
    arms: tuple[str, ...]
    control: str
    level: float
    n_patients: int
    is_binary: bool
    has_probabilities: bool
    adaptive: bool
    order: str
    columns: Mapping[str, str]
    flow: Flow
    missing: Missing
    effects: Effects
    strata: PrincipalStrata
    bounds: Bounds
    mediation: Mediation
    sequences: tuple[ConfidenceSequence, ...]
    why_no_sequences: str
    aipw: tuple[AipwEstimate, ...]
    allocation: AllocationCheck | None
    balance: StratumBalance | None
    randomisation: tuple[RandomisationTest, ...]
    subgroups: Mapping[str, Subgroup]
    estimands: tuple[Estimand, ...]
    warnings: tuple[str, ...]
    verdict: tuple[str, ...]
    lower_is_better: bool = False
    fixed_allocation: bool = False
    refuted: Mapping[str, str] = field(default_factory=dict)
    rehearsal: bool = False
    outcomes_drifted: bool = False
    arm_order: str = ""
    n_without_probabilities: int = 0

    @property
    def mixes_strata(self) -> bool:
        """Whether views that compare patients of different strata are withheld, as the allocation depends on them."""
        return self.balance is not None and self.balance.depends

    @property
    def withholds_bounds(self) -> bool:
        """Whether bounds, principal strata and the test of what was taken are withheld."""
        return self.mixes_strata or self.outcomes_drifted

    @property
    def title(self) -> str:
        """The name, which says if it is that of a rehearsal."""
        return f"{self.name} (rehearsal)" if self.rehearsal else self.name

    def summary(self, width: int = 100) -> str:
        """Everything in plain text, in lines of a width."""
        from adhere.analysis.output.summary import summary

        return summary(self, width)

    def to_json(self) -> dict[str, Any]:
        """Everything in plain values."""
        from adhere.analysis.output.to_json import to_json

        return to_json(self)

    def to_html(self) -> str:
        """One HTML file with figures and tables; needs the extra `report`."""
        from adhere.analysis.output.page import analysis_page

        return analysis_page(self)

    def __repr__(self) -> str:
        return f"<Analysis of {self.title}: {self.n_patients:,} patients, arms {', '.join(self.arms)}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.summary())}</pre>"
