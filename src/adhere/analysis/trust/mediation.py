"""Can what was taken be trusted: given the arm taken, does the outcome depend on the arm chosen?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import ConfidenceSet, Quantity, Validity
from adhere.analysis.fixed_sample.means import mean_of
from adhere.analysis.records import NOT_KNOWN, Records
from adhere.analysis.trust.mediation_evidence import (
    any_time_limits,
    arm_sentence,
    bayes_factor,
    evidence_of,
    largest_difference,
    overall_sentence,
    untested_arm_sentence,
    untested_sentence,
)
from adhere.intervals import RewardSums

_NEEDS = (
    " Under adaptive allocation all this needs that patients who came later are like those who came earlier, that the"
    " probabilities of arms depended on the past and not on the patient, and that being reported does not depend on"
    " the outcome."
)


@dataclass(frozen=True)
class ArmMediation:
    """Test of one arm taken: does the outcome depend on what was assigned?

    `n` and `means` are by the arm chosen. `log_bayes_factor` is that of confounded (a mean for each arm chosen) over
    mediated (one mean): above 0 it favours that the outcome depends on the arm assigned. `bayes_factor` says the
    factor and what it favours in words. `log_e` is the logarithm of an any-time valid e-value against mediated:
    refuted at e ≥ 1/(1 - level). `p_value` is that of a fixed sample (Pearson's χ², or the F test where outcomes are
    not 0 or 1; None where allocation was adaptive), and the outcome `differs` where it is at most 1 - level: that
    holds for one look at the data. `largest_difference` is the largest between the means of two arms chosen, in
    absolute value; it is `within_margin` if its whole confidence set is. All are None where nobody took the arm under
    two arms chosen.
    """

    arm: str
    n: Mapping[str, int]
    means: Mapping[str, Quantity]
    log_bayes_factor: float | None
    log_e: float | None
    refuted: bool | None
    p_value: float | None
    differs: bool | None
    largest_difference: Quantity
    within_margin: bool | None
    sentence: str
    bayes_factor: str = ""


@dataclass(frozen=True)
class Mediation:
    """The same for each arm taken, and for all of them: products of Bayes factors and e-values, the sum of χ².

    `refuted` and `equivalent` are None where no arm can be tested. `equivalent` is True only if every arm that
    anybody took can be tested and is within the margin; that data do not refute something does not make it true.
    """

    margin: float
    level: float
    arms: tuple[ArmMediation, ...]
    log_bayes_factor: float | None = None
    log_e: float | None = None
    refuted: bool | None = None
    p_value: float | None = None
    differs: bool | None = None
    equivalent: bool | None = None
    sentence: str = ""
    bayes_factor: str = ""


def mediation(records: Records, *, adaptive: bool, margin: float = 0.05, level: float = 0.95) -> Mediation:
    """Test each arm taken; `adaptive` makes the limits of the differences any-time valid.

    Patients count if it is known what they took and how they fared.

    >>> import numpy as np
    >>> columns = ([0, 0, 1, 1], [0, 1, 1, 1], [0.0, 1.0, 0.0, 0.0])
    >>> records = Records("told", "", ("old", "new"), *(np.repeat(column, 60) for column in columns))
    >>> told = mediation(records, adaptive=False)
    >>> told.refuted, [arm.refuted for arm in told.arms], told.arms[1].largest_difference.value
    (True, [None, True], 1.0)
    """
    counted, every = cells_of(records), range(records.n_arms)
    cells = {arm: [counted.cell(chosen, arm) for chosen in every] for arm in every}
    arms = tuple(_arm_mediation(arm, records.arms, cells[arm], adaptive, margin, level) for arm in every)
    taken = [arm for arm in arms if any(arm.n.values())]
    tested = [arm for arm in every if arms[arm].refuted is not None]
    if not tested:
        n_reported = counted.patients.sum() - counted.patients[:, NOT_KNOWN].sum()
        everybody_complied = bool(n_reported == counted.patients.trace())
        return Mediation(margin, level, arms, sentence=untested_sentence(len(taken), everybody_complied))
    evidence = evidence_of([_known(cells[arm]) for arm in tested], adaptive)
    equivalent = all(arm.within_margin for arm in taken)
    refuted_arms = [arms[arm].arm for arm in tested if arms[arm].refuted or arms[arm].differs]
    sentence = overall_sentence(evidence, equivalent, refuted_arms, margin, level) + _NEEDS * adaptive
    return Mediation(
        margin,
        level,
        arms,
        evidence.log_bayes_factor,
        evidence.log_e,
        evidence.refutes(level),
        evidence.p_value,
        evidence.differs(level),
        equivalent,
        sentence,
        bayes_factor(evidence.log_bayes_factor),
    )


def _arm_mediation(
    arm: int, names: Sequence[str], every: Sequence[RewardSums], adaptive: bool, margin: float, level: float
) -> ArmMediation:
    name = names[arm]
    n = {chosen: cell.n for chosen, cell in zip(names, every, strict=True)}
    means = dict(zip(names, _means(every, adaptive, level), strict=True))
    cells = _known(every)
    if len(cells) < 2:
        sentence = untested_arm_sentence(name, n)
        nothing = Quantity(None, n=sum(n.values()), reason=sentence)
        return ArmMediation(name, n, means, None, None, None, None, None, nothing, None, sentence)
    evidence = evidence_of([cells], adaptive)
    limits = largest_difference(cells, level, adaptive)
    shares = [cell.total / cell.n for cell in cells]
    within_margin = limits.high <= margin
    return ArmMediation(
        name,
        n,
        means,
        evidence.log_bayes_factor,
        evidence.log_e,
        evidence.refutes(level),
        evidence.p_value,
        evidence.differs(level),
        Quantity(max(shares) - min(shares), (limits,), sum(n.values())),
        within_margin,
        arm_sentence(name, means, evidence, limits.high, margin, level),
        bayes_factor(evidence.log_bayes_factor),
    )


def _known(cells: Sequence[RewardSums]) -> list[RewardSums]:
    return [cell for cell in cells if cell.n]


def _means(cells: Sequence[RewardSums], adaptive: bool, level: float) -> list[Quantity]:
    plain = [mean_of(cell, level) for cell in cells]
    if not adaptive:
        return plain
    limits = [
        ConfidenceSet(low, high, "Robbins' mixture", Validity.ANY_TIME, level=level)
        for low, high in zip(*any_time_limits(cells, level, 1), strict=True)
    ]
    return [replace(mean, sets=(found,)) if mean.n else mean for mean, found in zip(plain, limits, strict=True)]
