"""Bounds on each arm's mean and average effect for any non-compliance, and the instrumental inequality."""

from collections.abc import Mapping
from dataclasses import dataclass

from adhere.analysis.bounding.observed_cells import ObservedCells, observed_cells
from adhere.analysis.estimates import ConfidenceSet, Shape, Validity
from adhere.analysis.records import Records
from adhere.analysis.sentences import say

_ASSUMPTIONS = ("none", "monotonicity")


@dataclass(frozen=True)
class InstrumentalInequality:
    """Test of the assumption behind bounds and complier effects; it can refute the assumption, but not prove it.

    Parameters
    ----------
    refuted
        Whether no population fits any cell probabilities within their simultaneous limits; None if nothing can be
        tested.
    excess
        Amount by which the observed shares exceed Pearl's inequality, max over d of Σ_y max_z p(y, d | z) ≤ 1;
        negative if they satisfy it.
    distance
        Distance from the observed shares to the nearest shares that a population fits, as a fraction of the distance
        to their limits. It is 0 if a population fits the observed shares, and above 1 if the data refute the
        assumption.
    sentence
        What the result means, in words.

    """

    refuted: bool | None
    excess: float | None
    distance: float | None
    sentence: str


def instrumental_inequality(cells: ObservedCells, distance: float) -> InstrumentalInequality:
    """Test the inequality, given the observed shares and their distance from shares that a population fits.

    References
    ----------
    Pearl (1995), Uncertainty in Artificial Intelligence 11.

    """
    if len(cells.told) < 2:
        return InstrumentalInequality(None, None, None, say("inequality_untested"))
    shares = cells.shares.low[:, : 2 * cells.n_things].max(axis=0)
    excess = float(shares.reshape(-1, 2).sum(axis=1).max()) - 1.0
    refuted = distance > 1.0
    found = "refuted" if refuted else "doubtful" if distance > 0.0 else "kept"
    return InstrumentalInequality(refuted, excess, distance, say(f"inequality_{found}"))


@dataclass(frozen=True)
class Bound:
    """Bounds on a mean or an average effect in the whole population.

    Parameters
    ----------
    quantity
        "mean" if everybody took `treatment`, or "effect" if everybody took `treatment` instead of `control`.
    assumption
        "none": only that the arm told matters only through the treatment taken. "monotonicity": also that a person
        who takes an arm when told another one takes it when told it (with two arms: there are no defiers).
    low, high
        The bounds by the observed shares; None if there are none, for the `reason` given.
    limits
        The bounds with the sampling error of the shares; empty if the data refute the assumption.

    """

    quantity: str
    treatment: str
    control: str | None
    assumption: str
    low: float | None
    high: float | None
    limits: ConfidenceSet | None
    reason: str = ""


@dataclass(frozen=True)
class Bounds:
    """Bounds on every mean and effect, without and with monotonicity, and the test of the assumption."""

    bounds: tuple[Bound, ...]
    inequality: InstrumentalInequality
    notes: tuple[str, ...] = ()


def bounds(records: Records, *, adaptive: bool, level: float = 0.95) -> Bounds:
    """Compute bounds on every arm's mean and every pair's average effect, with simultaneous limits.

    Parameters
    ----------
    records
        The records. A reward strictly between 0 and 1 counts as that fraction of a success.
    adaptive
        Whether the allocation was adaptive, or the trial may have stopped because of its results. Then the limits on
        cells are valid at any time; limits for a fixed sample are not.
    level
        Probability with which all limits hold at once.

    Examples
    --------
    None of 172 people on placebo took the drug, and 101 of 165 people told to take it did (Balke and Pearl 1997):

    >>> import numpy as np
    >>> chosen, actual, reward, count = np.array(
    ...     [[0, 0, 0, 158], [0, 0, 1, 14], [1, 0, 0, 52], [1, 0, 1, 12], [1, 1, 0, 23], [1, 1, 1, 78]]
    ... ).T
    >>> lipid = Records("lipid", "", ("placebo", "drug"), chosen, actual, reward.astype(float), count=count)
    >>> for one in bounds(lipid, adaptive=False).bounds[:3]:
    ...     print(one.quantity, one.treatment, f"{one.low:.4f} to {one.high:.4f}, limits", one.limits)
    mean placebo 0.0814 to 0.0814, limits [0.035, 0.155]
    mean drug 0.4727 to 0.8606, limits [0.366, 0.925]
    effect drug 0.3913 to 0.7792, limits [0.211, 0.890]

    References
    ----------
    Balke and Pearl (1997), Journal of the American Statistical Association 92.

    """
    from adhere.analysis.bounding.balke_pearl import Target, has_one_program, program_bounds

    cells = observed_cells(records)
    targets: list[Target] = [{arm: 1} for arm in range(records.n_arms)]
    targets += [{treatment: 1, control: -1} for treatment, control in records.pairs]
    found: list[Bound] = []
    if not cells.told:
        for assumption in _ASSUMPTIONS:
            found += [_bound(records, one, assumption, "Nobody was assigned an arm.") for one in targets]
        return Bounds(tuple(found), instrumental_inequality(cells, 0.0))
    limits = cells.limits(level, any_time=adaptive, binary=records.is_binary)
    kind = "Robbins" if adaptive else "Clopper–Pearson" if records.is_binary else "Hoeffding"
    method = f"linear program within {kind} limits on the cells"
    validity = Validity.ANY_TIME if adaptive else Validity.FIXED
    distances = []
    for assumption in _ASSUMPTIONS:
        solved = program_bounds(cells, limits, targets, monotone=assumption == "monotonicity")
        distances.append(solved.distance)
        for i, target in enumerate(targets):
            if solved.by_shares is None or solved.by_limits is None:
                reason = say("bounds_refuted" if distances[0] > 1.0 else "bounds_not_monotone")
                empty = ConfidenceSet(0.0, 0.0, method, validity, Shape.EMPTY, level)
                found.append(_bound(records, target, assumption, reason, limits=empty))
                continue
            (low, high), (least, most) = solved.by_shares[i], solved.by_limits[i]
            if solved.is_nearest and assumption == "monotonicity":
                low, high = _at_most(found[i], low, high)
            interval = ConfidenceSet(min(low, least), max(high, most), method, validity, Shape.INTERVAL, level)
            reasons = [say("bounds_nearest")] * solved.is_nearest + _not_taken(records, cells, target)
            found.append(_bound(records, target, assumption, " ".join(reasons), low, high, interval))
    notes = {
        "bounds_lumped": not has_one_program(cells),
        "bounds_not_binary": not records.is_binary,
        "bounds_unknown": bool(cells.unknown),
        "bounds_any_time": adaptive,
    }
    inequality = instrumental_inequality(cells, distances[0])
    return Bounds(tuple(found), inequality, tuple(say(note) for note, holds in notes.items() if holds))


def _bound(
    records: Records,
    target: Mapping[int, int],
    assumption: str,
    reason: str,
    low: float | None = None,
    high: float | None = None,
    limits: ConfidenceSet | None = None,
) -> Bound:
    treatment, *control = (records.arms[arm] for arm in target)
    quantity = "effect" if control else "mean"
    return Bound(quantity, treatment, control[0] if control else None, assumption, low, high, limits, reason)


def _at_most(without: Bound, low: float, high: float) -> tuple[float, float]:
    """Return bounds by the nearest shares, cut to the bounds `without` the additional assumption."""
    if without.low is None or without.high is None:
        return low, high
    inside = max(low, without.low), min(high, without.high)
    return inside if inside[0] <= inside[1] else (without.low, without.high)


def _not_taken(records: Records, cells: ObservedCells, target: Mapping[int, int]) -> list[str]:
    """Return sentences on arms that nobody took; the data contain nothing on their outcomes."""
    taken = cells.taken.sum(axis=(0, 2)) + cells.no_outcome.sum(axis=0)
    return [f"Nobody is known to have taken {records.arms[arm]!r}." for arm in target if not taken[arm]]
