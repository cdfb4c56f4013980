"""Everything that the records of a trial say, in one value; `Analysis` shows and converts it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adhere.analysis.adaptive.aipw import AipwEstimate
from adhere.analysis.adaptive.allocation_check import AllocationCheck
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.adaptive.randomisation_test import RandomisationTest
from adhere.analysis.bounding.bounds import Bounds
from adhere.analysis.estimates import Comparison, ConfidenceSet, OfPair, View
from adhere.analysis.fixed_sample.effects import Effects
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.fixed_sample.stratum_balance import StratumBalance
from adhere.analysis.flow import Flow
from adhere.analysis.missing_outcomes.missing import Missing
from adhere.analysis.trust.mediation import Mediation


@dataclass(frozen=True)
class Estimand:
    """A view in words; `strategy` is that for intercurrent events by ICH E9(R1)."""

    view: str
    estimand: str
    strategy: str
    assumes: str
    says: str


@dataclass(frozen=True)
class Subgroup:
    """The effects among the patients of one stratum, and their confidence sequences where there are any."""

    n_patients: int
    effects: Effects
    sequences: tuple[ConfidenceSequence, ...]

    def assigned_effect(
        self, treatment: str, control: str, *, adaptive: bool
    ) -> tuple[float | None, ConfidenceSet | None] | None:
        """The intention-to-treat effect, with the set that holds for the allocation; None if there is none."""
        wanted = OfPair(View.INTENTION_TO_TREAT, treatment, control)
        for sequence in self.sequences if adaptive else ():
            if sequence.is_like(wanted):
                return sequence.estimate, sequence.final
        for one in self.effects.comparisons:
            if one.is_like(wanted):
                return one.difference.value, one.difference.sets[0] if one.difference.sets else None
        return None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Results of every part of an analysis, with warnings and a verdict.

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
    aipw: tuple[AipwEstimate, ...] = ()
    allocation: AllocationCheck | None
    balance: StratumBalance | None
    randomisation: tuple[RandomisationTest, ...] = ()
    subgroups: Mapping[str, Subgroup] = field(default_factory=dict)
    estimands: tuple[Estimand, ...] = ()
    warnings: tuple[str, ...]
    verdict: tuple[str, ...] = ()
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
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair of treatment and control, those against the trial's control first."""
        found = dict.fromkeys(one.pair for one in self.effects.comparisons)
        return sorted(found, key=lambda pair: pair[1] != self.control)

    def view_name(self, one: Comparison) -> str:
        """The view of a comparison, and whether it is stratified where there is another that is."""
        if one.stratified:
            return f"{one.view.value}, stratified"
        has_strata = any(other.stratified and other.view is one.view for other in self.effects.comparisons)
        return one.view.value + ", unstratified" * has_strata

    @property
    def title(self) -> str:
        """The name, which says if it is that of a rehearsal."""
        return f"{self.name} (rehearsal)" if self.rehearsal else self.name
