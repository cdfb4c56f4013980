"""Draw trials of a fixed design as counts, and report every interval of their analysis."""

import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from adhere.analysis.estimates import Comparison, Quantity, Validity, View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.principal_strata import principal_strata
from adhere.analysis.missing_outcomes.missing import missing
from adhere.analysis.records import Floats, Ints, Records
from adhere.analysis.trust.mediation import mediation
from adhere.studies.coverage.people import ARMS, People
from adhere.studies.coverage.tally import Alarm, Interval, Reported, Test

_NAN = float("nan")


class FixedTrials:
    """Counts of (group, chosen, actual, outcome) in many trials of a given size per arm."""

    def __init__(self, who: People, n_per_arm: int) -> None:
        self._who, self.n_per_arm = who, n_per_arm
        self._cells = []
        for group, (share, population) in enumerate(who.groups):
            size = round(n_per_arm * share)
            weights = np.stack([population.compliance() - population.reward_mass(), population.reward_mass()], axis=2)
            for chosen in (0, 1):
                self._cells.append((group, chosen, size, _with_missing(who, chosen, weights[chosen])))
        rows = [
            (group, chosen, actual, reward)
            for group, chosen, _, weights in self._cells
            for actual in (0, 1)
            for reward in (0.0, 1.0, _NAN)[: weights.shape[1]]
        ]
        self._columns = [np.array(column) for column in zip(*rows, strict=True)]  # the cell of each count

    def drawn(self, seed: int, chunk: int, n_trials: int) -> Iterator[tuple[Records, int]]:
        """Yield every distinct trial of a chunk, with its frequency."""
        key = [seed, zlib.crc32(self._who.name.encode()), self.n_per_arm, chunk]
        rng = np.random.default_rng(key)
        drawn = [rng.multinomial(size, weights.ravel(), n_trials) for _, _, size, weights in self._cells]
        tables, times = np.unique(np.hstack(drawn), axis=0, return_counts=True)
        for table, n_times in zip(tables, times.tolist(), strict=True):
            yield self._records(table), n_times

    def _records(self, table: Ints) -> Records:
        there = table > 0
        group, chosen, actual, reward = (column[there] for column in self._columns)
        is_grouped = len(self._who.groups) > 1
        return Records(
            self._who.name, "drawn", ARMS, chosen, actual, reward, count=table[there],
            strata=tuple(population.name for _, population in self._who.groups) if is_grouped else (),
            stratum=group if is_grouped else None,
        )  # fmt: skip


def _with_missing(who: People, chosen: int, weights: Floats) -> Floats:
    """Return P(actual, outcome | chosen). A third outcome means that it is not reported."""
    if who.missing is None:
        return weights
    lost = np.array(who.missing) * (1.0 if chosen else 0.5)
    return np.column_stack([weights * (1 - lost), weights @ lost])


DIFFERENCE, RATIO, NUMBER_NEEDED = "difference", "ratio", "number needed to treat"
STRATA, EXTREMES = "principal strata", "worst-case bounds"
MEDIATED = "outcomes are mediated"
ALPHA, NO_EFFECT = 0.05, "no effect"


def fixed_reports(records: Records, who: People) -> Iterator[Reported | Alarm]:
    """Report the intervals of all views, of principal strata and of worst-case bounds, and the tests.

    If outcomes are missing for reasons that depend on them, only the worst-case bounds promise anything.
    """
    is_whole = who.missing is None
    found = effects(records)
    for compared in found.comparisons:
        yield from _of_comparison(compared, who, is_whole)
        if is_whole and compared.view is View.INTENTION_TO_TREAT and compared.p_value is not None:
            named = f"{compared.view.value}{', stratified' * compared.stratified}, fixed-sample"
            yield Alarm(Test(named, NO_EFFECT, who.is_null, True), compared.p_value <= ALPHA)
    for one in found.means:
        means, assumed = true_means(one.view, who), is_whole and _is_assumed_rightly(one.view, who)
        if means is not None:
            yield from of_quantity(
                one.view.value, f"mean of {one.arm}", one.mean, means[ARMS.index(one.arm)], assumed
            )
    yield from _of_strata(records, who, is_whole)
    yield from trust_reports(records, who, adaptive=False)


def trust_reports(records: Records, who: People, *, adaptive: bool) -> Iterator[Reported | Alarm]:
    """Report the limits for extreme cases of missing outcomes, and whether mediation by the arm taken is refuted."""
    if not records.has_reward.all():
        for extreme in missing(records, adaptive=adaptive).extremes:
            truth = comparison_truths(extreme.view, who)[DIFFERENCE]
            if truth is not None:
                limits = extreme.limits
                named = Interval(EXTREMES, extreme.view.value, limits.method, limits.validity.value, True)
                yield Reported(named, truth, limits)
    # The any-time limits of differences are slow and not needed here: the e-value is valid at any time anyway.
    refuted = mediation(records, adaptive=False).refuted
    yield Alarm(Test("mediation", MEDIATED, who.is_mediated, who.missing is None), refuted)


def comparison_truths(view: View, who: People) -> Mapping[str, float | None]:
    """Return the true comparison of treatment and control. Views of the arm taken are compared with the average
    effect.
    """
    means = true_means(view, who)
    if means is None:
        return {DIFFERENCE: None, RATIO: None, NUMBER_NEEDED: None}
    control, treatment = means
    difference = treatment - control
    return {
        DIFFERENCE: difference,
        RATIO: treatment / control,
        NUMBER_NEEDED: 1 / difference if abs(difference) > 1e-12 else None,
    }


def true_means(view: View, who: People) -> tuple[float, float] | None:
    """Return the true mean rewards in a view's population, or None if it is empty."""
    if view is View.COMPLIERS:
        return who.types.get("compliers")
    return who.chosen if view is View.INTENTION_TO_TREAT else who.taken


def _is_assumed_rightly(view: View, who: People) -> bool:
    return who.is_monotone or view is not View.COMPLIERS


def _of_comparison(compared: Comparison, who: People, is_whole: bool) -> Iterator[Reported]:
    given = {DIFFERENCE: compared.difference, RATIO: compared.ratio, NUMBER_NEEDED: compared.number_needed}
    assumed = _is_assumed_rightly(compared.view, who)
    view = compared.view.value + (", stratified" if compared.stratified else "")
    for quantity, true in comparison_truths(compared.view, who).items():
        if true is not None:
            yield from of_quantity(view, quantity, given[quantity], true, is_whole and assumed)


def _of_strata(records: Records, who: People, is_whole: bool) -> Iterator[Reported]:
    found, assumed = principal_strata(records), is_whole and who.is_monotone
    for name, given in found.shares.items():
        yield from of_quantity(STRATA, f"share of {name}", given, who.shares[name], assumed)
    for name, given in found.means.items():
        kind, _, how = name.partition(", ")
        means = who.types.get(kind)
        if means is not None:
            arm = 1 if kind == "always-takers" or how == "treated" else 0
            yield from of_quantity(STRATA, f"mean of {name}", given, means[arm], assumed)


def of_quantity(view: str, quantity: str, given: Quantity, truth: float, assumed: bool) -> Iterator[Reported]:
    """Report every confidence set for a quantity."""
    for one in given.sets:
        judged = assumed and one.validity is not Validity.APPROXIMATE
        yield Reported(Interval(view, quantity, one.method, one.validity.value, judged), truth, one)
