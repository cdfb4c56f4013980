"""Results of every part of an analysis, in one value. `Analysis` displays and converts it."""

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
    """Description of a view in words. `strategy` is its strategy for intercurrent events (ICH E9(R1))."""

    view: str
    estimand: str
    strategy: str
    assumes: str
    says: str


@dataclass(frozen=True)
class Subgroup:
    """Effects among the patients of one stratum, with confidence sequences if there are any."""

    n_patients: int
    effects: Effects
    sequences: tuple[ConfidenceSequence, ...]

    def assigned_effect(
        self, treatment: str, control: str, *, adaptive: bool
    ) -> tuple[float | None, ConfidenceSet | None] | None:
        """Return the intention-to-treat effect with the set that is valid for the allocation, or None."""
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

    - `has_probabilities`: the records have the probability of every arm for every patient. `n_without_probabilities`
      is the number of patients who lack it.
    - `adaptive`: the probabilities changed from one patient to the next.
    - `order`: the source of the order of decisions.
    - `arm_order`: for records read from a table, what decided the order of the arms and the control.
    - `digest`: the digest of the data, which shows whether two analyses used the same data.
    - `lower_is_better`: outcomes were read as 1 − the value given.
    - `fixed_allocation`: the analyst declared that the probabilities of arms were fixed in advance, and that this is
      the only look.
    - `rehearsal`: the records are not data of a trial.
    - `outcomes_drifted`: outcomes changed over time while the allocation adapted.
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
        """Return whether the allocation depends on the stratum, so that views across strata are withheld."""
        return self.balance is not None and self.balance.depends

    @property
    def withholds_bounds(self) -> bool:
        """Return whether bounds, principal strata and the mediation test are withheld."""
        return self.mixes_strata or self.outcomes_drifted

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair of treatment and control; pairs with the trial's control come first."""
        found = dict.fromkeys(one.pair for one in self.effects.comparisons)
        return sorted(found, key=lambda pair: pair[1] != self.control)

    def view_name(self, one: Comparison) -> str:
        """Return the name of a comparison's view, with ", stratified" or ", unstratified" if there are both."""
        if one.stratified:
            return f"{one.view.value}, stratified"
        has_strata = any(other.stratified and other.view is one.view for other in self.effects.comparisons)
        return one.view.value + ", unstratified" * has_strata

    @property
    def title(self) -> str:
        """Name of the trial, marked if it is a rehearsal."""
        return f"{self.name} (rehearsal)" if self.rehearsal else self.name
