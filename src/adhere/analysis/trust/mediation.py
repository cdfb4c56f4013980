"""Mediation test: given the arm taken, does the outcome depend on the arm assigned?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from adhere.analysis.cells import added, cells_of
from adhere.analysis.estimates import ConfidenceSet, Quantity, Validity
from adhere.analysis.fixed_sample.means import mean_of, variance_of
from adhere.analysis.formatting import bayes_factor_words, from_log, p_value
from adhere.analysis.records import NOT_KNOWN, Records
from adhere.analysis.sentences import say
from adhere.intervals import RewardSums


@dataclass(frozen=True)
class ArmMediation:
    """Test for one arm taken: does the outcome depend on the arm assigned?

    - `n` and `means` are by the arm assigned.
    - `log_bayes_factor` is for "confounded" (a mean for each arm assigned) against "mediated" (one mean). Above 0 it
      favours that the outcome depends on the arm assigned. `bayes_factor` is the factor and what it favours, in
      words.
    - `log_e` is the logarithm of an any-time valid e-value against "mediated", which is `refuted` at
      e ≥ 1/(1 - level).
    - `p_value` is for a fixed sample: Pearson's χ², or the F test if outcomes are not 0 or 1. It is None if the
      allocation was adaptive. The outcome `differs` if it is at most 1 - level; this is valid for one look.
    - `largest_difference` is the largest absolute difference between the means of two arms assigned. It is
      `within_margin` if its whole confidence set is within the margin.

    All results are None unless the arm was taken by patients of at least two arms assigned.
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
    """Mediation tests of each arm taken and of all arms together.

    The joint test multiplies Bayes factors and e-values, and adds up χ². `refuted` and `equivalent` are None if no
    arm can be tested. `equivalent` is True only if every arm that anybody took can be tested and is within the
    margin; not being refuted is not enough.
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

    Only patients with a known treatment taken and a known outcome count.

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
        why = "nothing_known" if not taken else "nothing_to_test" if everybody_complied else "no_arm_by_two"
        return Mediation(margin, level, arms, sentence=say(why))
    evidence = evidence_of([_known(cells[arm]) for arm in tested], adaptive)
    equivalent = all(arm.within_margin for arm in taken)
    refuted_arms = [arms[arm].arm for arm in tested if arms[arm].refuted or arms[arm].differs]
    sentence = overall_sentence(evidence, equivalent, refuted_arms, margin, level)
    sentence += say("needs_like_patients") * adaptive
    return Mediation(margin, level, arms, *evidence.numbers(level), equivalent, sentence, evidence.bayes_factor)


def _arm_mediation(
    arm: int, names: Sequence[str], every: Sequence[RewardSums], adaptive: bool, margin: float, level: float
) -> ArmMediation:
    name = names[arm]
    n = {chosen: cell.n for chosen, cell in zip(names, every, strict=True)}
    means = dict(zip(names, _means(every, adaptive, level), strict=True))
    cells = _known(every)
    if len(cells) < 2:
        takers = [chosen for chosen, count in n.items() if count]
        sentence = say("took_by_one_arm", arm=name, chosen=takers[0]) if takers else say("nobody_took_it", arm=name)
        nothing = Quantity(None, n=sum(n.values()), reason=sentence)
        return ArmMediation(name, n, means, None, None, None, None, None, nothing, None, sentence)
    evidence = evidence_of([cells], adaptive)
    limits = largest_difference(cells, level, adaptive)
    shares = [cell.total / cell.n for cell in cells]
    difference = Quantity(max(shares) - min(shares), (limits,), sum(n.values()))
    sentence = arm_sentence(name, means, evidence, limits.high, margin, level)
    within_margin = limits.high <= margin
    numbers = evidence.numbers(level)
    return ArmMediation(name, n, means, *numbers, difference, within_margin, sentence, evidence.bayes_factor)


def _known(cells: Sequence[RewardSums]) -> list[RewardSums]:
    return [cell for cell in cells if cell.n]


def _means(cells: Sequence[RewardSums], adaptive: bool, level: float) -> list[Quantity]:
    plain = [mean_of(cell, level) for cell in cells]
    if not adaptive:
        return plain
    limits = zip(*any_time_limits(cells, level, 1), strict=True)
    sets = [ConfidenceSet(*ends, "Robbins' mixture", Validity.ANY_TIME, level=level) for ends in limits]
    return [replace(mean, sets=(found,)) if mean.n else mean for mean, found in zip(plain, sets, strict=True)]


_FEW = 50  # with fewer patients, Student's interval is not reliable for skewed outcomes


@dataclass(frozen=True)
class Evidence:
    """Evidence against "mediated": a Bayes factor, an e-value, and a p-value for a fixed sample."""

    log_bayes_factor: float
    log_e: float
    p_value: float | None
    binary: bool  # whether all outcomes are 0 or 1; the Bayes factor is exact only then

    def refutes(self, level: float) -> bool:
        """Return whether the e-value refutes "mediated", for any number of looks."""
        return self.log_e >= -math.log1p(-level)

    def differs(self, level: float) -> bool | None:
        """Return whether the p-value refutes "mediated", for one look at a fixed sample; None without a p-value."""
        return None if self.p_value is None else self.p_value <= 1.0 - level

    def numbers(self, level: float) -> tuple[float, float, bool, float | None, bool | None]:
        """Return log Bayes factor, log e-value and p-value; after the latter two, whether each refutes "mediated"."""
        return self.log_bayes_factor, self.log_e, self.refutes(level), self.p_value, self.differs(level)

    @property
    def bayes_factor(self) -> str:
        """Bayes factor with the hypothesis that it favours, in words."""
        return bayes_factor(self.log_bayes_factor)


def evidence_of(groups: Sequence[Sequence[RewardSums]], adaptive: bool) -> Evidence:
    """Combine the evidence of groups of cells; each group took one arm."""
    from scipy.special import chdtrc

    freedom = sum(len(cells) - 1 for cells in groups)
    p_value = None if adaptive else float(chdtrc(freedom, math.fsum(map(chi_square, groups))))
    return Evidence(
        math.fsum(map(log_bayes_factor, groups)),
        math.fsum(map(log_e_value, groups)),
        p_value,
        all(cell.binary for cells in groups for cell in cells),
    )


def log_bayes_factor(cells: Sequence[RewardSums]) -> float:
    """Return the log Bayes factor of "confounded" (a mean per cell) over "mediated" (one mean), uniform priors.

    >>> cells = [RewardSums(1, 1.0, 1.0), RewardSums(1, 0.0, 0.0)]
    >>> round(math.exp(log_bayes_factor(cells)), 6)  # ½ · ½ over 1/6
    1.5
    """
    return _log_mixture(cells) - _log_mixture([added(cells)])


def log_e_value(cells: Sequence[RewardSums]) -> float:
    """Return the log of an any-time valid e-value: mixture likelihood of "confounded" over the maximum of "mediated".

    >>> cells = [RewardSums(1, 1.0, 1.0), RewardSums(1, 0.0, 0.0)]
    >>> round(math.exp(log_e_value(cells)), 6)  # ½ · ½ over ½ · ½
    1.0
    """
    return _log_mixture(cells) - _log_maximum(added(cells))


def chi_square(cells: Sequence[RewardSums]) -> float:
    """Return Pearson's statistic for "all cells have one mean", or an F test's if outcomes are not all 0 or 1.

    For the F test, the result is the value of χ² with the same p-value, so that values of several arms can be added.

    >>> round(chi_square([RewardSums(10, 2.0, 2.0), RewardSums(10, 8.0, 8.0)]), 6)
    7.2
    """
    from scipy.special import chdtri, fdtrc

    pooled = added(cells)
    mean, freedom = pooled.total / pooled.n, len(cells) - 1
    between = math.fsum(cell.n * (cell.total / cell.n - mean) ** 2 for cell in cells)
    within = math.fsum(variance_of(cell) * (cell.n - 1) for cell in cells)
    if not pooled.binary and within > 0.0:
        rest = pooled.n - len(cells)
        return float(chdtri(freedom, fdtrc(freedom, rest, between / freedom / (within / rest))))
    variance = mean * (1.0 - mean)  # for outcomes 0 and 1; an upper bound for others with this mean
    return between / variance if variance > 0.0 else 0.0


def _log_mixture(cells: Sequence[RewardSums]) -> float:
    successes_and_failures = ((1.0 + cell.total, 1.0 + max(0.0, cell.n - cell.total)) for cell in cells)
    return math.fsum(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b) for a, b in successes_and_failures)


def _log_maximum(pooled: RewardSums) -> float:
    share = min(1.0, pooled.total / pooled.n)
    return pooled.n * sum(part * math.log(part) for part in (share, 1.0 - share) if part > 0.0)


def largest_difference(cells: Sequence[RewardSums], level: float, any_time: bool) -> ConfidenceSet:
    """Return a confidence set for the largest absolute difference between the means of two cells.

    The set covers if the intervals of all pairs cover at once. These are Newcombe's intervals with an equal share of
    the error for each pair (Bonferroni), or differences of any-time limits with an equal share for each mean. If
    outcomes are not 0 or 1, Newcombe's method combines Student's intervals. With few patients it combines Wilson's
    intervals: these are then too wide, but Student's could be too narrow for skewed outcomes.
    """
    if any_time:
        low, high = any_time_limits(cells, level, len(cells))
        pairs = [(low[i] - high[j], high[i] - low[j]) for i, j in combinations(range(len(cells)), 2)]
        method, validity = "Robbins' mixture", Validity.ANY_TIME
    else:
        share = 1.0 - (1.0 - level) / math.comb(len(cells), 2)
        means = [mean_of(_cautious(cell), share) for cell in cells]
        pairs = [_combined(one, other) for one, other in combinations(means, 2)]
        method = "Newcombe" if all(cell.binary for cell in cells) else "Student, combined as by Newcombe"
        validity = Validity.FIXED
    if len(pairs) > 1:
        method += ", simultaneous"
    least = max(max(low, -high, 0.0) for low, high in pairs)
    most = max(max(-low, high) for low, high in pairs)
    return ConfidenceSet(least, min(1.0, most), method, validity, level=level)


def _cautious(cell: RewardSums) -> RewardSums:
    """Return the cell; if it has few patients, its variance is that of zeros and ones with the same mean."""
    return cell if cell.n >= _FEW else RewardSums(cell.n, cell.total, cell.total, binary=True)


def _combined(one: Quantity, other: Quantity) -> tuple[float, float]:
    """Return Newcombe's interval for the difference of two means, given the interval of each."""
    (own,), (others,) = one.sets, other.sets
    mean, other_mean = one.value or 0.0, other.value or 0.0
    below = math.hypot(mean - own.low, others.high - other_mean)
    above = math.hypot(own.high - mean, other_mean - others.low)
    return mean - other_mean - below, mean - other_mean + above


def any_time_limits(cells: Sequence[RewardSums], level: float, n_cells: int) -> tuple[list[float], list[float]]:
    """Return limits on the mean of each cell, simultaneous for `n_cells` cells, valid whenever the trial stops."""
    from adhere.analysis.bounding.observed_cells import cell_limits

    n = np.array([float(cell.n) for cell in cells])
    total = np.minimum([cell.total for cell in cells], n)
    low, high = cell_limits(total, n, level, n_cells, any_time=True)
    return low.tolist(), high.tolist()


_STRENGTHS = ((150.0, "very strong"), (20.0, "strong"), (3.0, "positive"))  # Kass & Raftery (1995)


def bayes_factor_sentence(log_factor: float, alike: bool = False, binary: bool = True) -> str:
    """Return a sentence with the hypothesis that the Bayes factor favours and the strength of the evidence.

    For evidence of no dependence, the strength is given only if the means were found `alike`.

    >>> bayes_factor_sentence(math.log(0.01), alike=True)
    'The Bayes factor is 100 in favour of no dependence on the arm assigned (strong evidence).'
    """
    strength = next((word for least, word in _STRENGTHS if abs(log_factor) >= math.log(least)), "")
    rough = "" if binary else ", which is rough where outcomes are not all 0 or 1,"
    factor = f"The Bayes factor{rough} is {bayes_factor(log_factor)}"
    if not strength:
        return f"{factor}, which says next to nothing either way."
    if log_factor < 0.0 and not alike:
        return f"{factor}; with few patients it leans that way by itself."
    return f"{factor} ({strength} evidence)."


def bayes_factor(log_factor: float) -> str:
    """Format a Bayes factor with the hypothesis that it favours.

    >>> bayes_factor(math.log(3.2))
    '3.2 in favour of dependence on the arm assigned'
    """
    hypotheses = "in favour of dependence on the arm assigned", "in favour of no dependence on the arm assigned"
    return bayes_factor_words(log_factor, hypotheses)


def arm_sentence(
    arm: str, means: Mapping[str, Quantity], evidence: Evidence, most: float, margin: float, level: float
) -> str:
    """Return the finding on patients who took one arm; `most` is the largest difference that the data allow."""
    if evidence.refutes(level) or evidence.differs(level):
        known = sorted((mean.value, chosen) for chosen, mean in means.items() if mean.value is not None)
        (low, lowest), *_, (high, highest) = known
        within = f", by at most {most:z.3f}, less than the margin of {margin:g}" if most <= margin else ""
        ends = {"low": low, "lowest": lowest, "high": high, "highest": highest}
        return say("fared_differently", arm=arm, within=within, **ends, values=_values(evidence))
    if most <= margin:
        return say("fared_alike", arm=arm, most=most, margin=margin)
    return say("arm_not_decided", arm=arm, values=_values(evidence), most=most, margin=margin)


def overall_sentence(
    evidence: Evidence, equivalent: bool, refuted_arms: Sequence[str], margin: float, level: float
) -> str:
    """Return the finding on all arms together."""
    values = _values(evidence)
    refuted, differs = evidence.refutes(level), evidence.differs(level)
    if equivalent:
        sentence = f"Given what was taken, mean outcomes differ by arm assigned by less than the margin of {margin:g}"
        sentence += f", though they do differ ({values})." if refuted or differs else "."
    elif refuted:
        sentence = say("mediation_refuted", values=values, least=1.0 / (1.0 - level))
    elif differs:
        sentence = say("mediation_differs", values=values)
    elif refuted_arms:
        sentence = say("mediation_refuted_for_some", arms=and_list(refuted_arms), values=values)
    else:
        sentence = say("mediation_not_decided", values=values, margin=margin)
    return f"{sentence} {bayes_factor_sentence(evidence.log_bayes_factor, equivalent, evidence.binary)}"


def _values(evidence: Evidence) -> str:
    p = evidence.p_value
    p_text = "" if p is None else "p < 0.001, " if p < 0.001 else f"p = {p_value(p)}, "
    return f"{p_text}e-value {from_log(evidence.log_e)}"


def and_list(names: Sequence[str]) -> str:
    """Join names with commas and "and".

    >>> and_list(["a"]), and_list(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
