"""Building blocks of an analysis: confidence sets, quantities, and comparisons of two arms by a view."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import polars


_COLUMNS = ("quantity", "estimate", "low", "high", "shape", "method", "holds")  # columns of `Comparison.to_frame`


class Validity(Enum):
    """Guarantee of a confidence set, and the allocation for which it is valid."""

    FIXED = "fixed-sample"  # valid for a fixed allocation and one look
    ANY_TIME = "any-time valid"  # valid for adaptive allocation, whenever the trial stops
    ADAPTIVE = "asymptotic, adaptive allocation"  # valid at one time fixed in advance, in large samples
    REFUTED = "refuted: does not hold"  # the data refute an assumption on which it rests
    APPROXIMATE = "approximate"  # no guarantee: weak instruments, or analysis sets without an estimand


class Shape(Enum):
    """Shape of a confidence set."""

    INTERVAL = "interval"  # low to high, either of which may be infinite
    OUTSIDE = "outside"  # all values up to low and from high on: the quantity may be arbitrarily large
    EVERYTHING = "everything"
    EMPTY = "empty"


@dataclass(frozen=True)
class ConfidenceSet:
    """Set of values that the data do not refute, with its method. Its ends are never NaN.

    >>> print(ConfidenceSet(0.1, 0.3, "Newcombe"))
    [0.100, 0.300]
    """

    low: float
    high: float
    method: str
    validity: Validity = Validity.FIXED
    shape: Shape = Shape.INTERVAL
    level: float = 0.95

    def __post_init__(self) -> None:
        assert not math.isnan(self.low)
        assert not math.isnan(self.high)

    def __contains__(self, value: float) -> bool:
        if self.shape is Shape.INTERVAL:
            return self.low <= value <= self.high
        if self.shape is Shape.OUTSIDE:
            return value <= self.low or value >= self.high
        return self.shape is Shape.EVERYTHING

    @property
    def is_bounded(self) -> bool:
        """Return whether the set limits the size of the quantity."""
        finite = math.isfinite(self.low) and math.isfinite(self.high)
        return self.shape is Shape.EMPTY or (self.shape is Shape.INTERVAL and finite)

    @property
    def says_nothing(self) -> bool:
        """Return whether the set is unbounded or contains every possible effect on outcomes from 0 to 1."""
        return not self.is_bounded or (self.low <= -1.0 and self.high >= 1.0)

    def __str__(self) -> str:
        if self.shape is Shape.EMPTY:
            return "empty"
        if self.shape is Shape.EVERYTHING:
            return "unbounded: any value"
        low, high = (
            f"{end:z.3f}" if math.isfinite(end) else ("∞" if end > 0 else "-∞") for end in (self.low, self.high)
        )
        return f"[{low}, {high}]" if self.shape is Shape.INTERVAL else f"unbounded: below {low} or above {high}"


Marked = TypeVar("Marked")


def with_validity(given: Marked, validity: Validity) -> Marked:
    """Return a value with the given validity on every confidence set in it, however deeply nested."""
    found: Any = given
    if isinstance(given, ConfidenceSet):
        found = replace(given, validity=validity)
    elif isinstance(given, tuple):
        found = tuple(with_validity(one, validity) for one in given)
    elif isinstance(given, Mapping):
        found = {name: with_validity(one, validity) for name, one in given.items()}
    elif is_dataclass(given) and not isinstance(given, type):
        parts = {one.name: with_validity(getattr(given, one.name), validity) for one in fields(given)}
        found = replace(given, **parts)
    return cast("Marked", found)


@dataclass(frozen=True)
class Quantity:
    """Estimated quantity: its point estimate and its confidence sets, starting with the one to trust.

    If there is no value, or no set, `reason` is a sentence on what cannot be estimated and why.
    """

    value: float | None
    sets: tuple[ConfidenceSet, ...] = ()
    n: int = 0
    reason: str = ""


class View(Enum):
    """View: which patients are compared, and by which arm."""

    INTENTION_TO_TREAT = "intention-to-treat"
    COMPLIERS = "compliers"
    AS_TREATED = "as-treated"
    PER_PROTOCOL = "per-protocol"


@dataclass(frozen=True, eq=False)
class OfPair:
    """Base class of results of one view for a pair of treatment and control."""

    view: View
    treatment: str
    control: str

    @property
    def pair(self) -> tuple[str, str]:
        """Names of the treatment and the control."""
        return self.treatment, self.control

    def is_like(self, other: OfPair) -> bool:
        """Return whether both results are for the same pair by the same view."""
        return self.view is other.view and self.pair == other.pair


@dataclass(frozen=True)
class Comparison(OfPair):
    """Comparison of a treatment with a control; effects are treatment − control, and higher is better.

    `adjusted` maps the name of a correction for multiple comparisons, with its family, to the corrected p-value. With
    `at_random`, outcomes are missing, and the comparison assumes that they are missing at random given the arm
    assigned, the treatment taken and the stratum.
    """

    difference: Quantity
    ratio: Quantity
    number_needed: Quantity
    p_value: float | None = None
    adjusted: Mapping[str, float] = field(default_factory=dict)
    stratified: bool = False
    note: str = ""
    at_random: bool = False

    @property
    def estimate(self) -> float | None:
        """Estimated difference, treatment − control. If it is None, `difference.reason` says why."""
        return self.difference.value

    def conf_int(self) -> tuple[float, float]:
        """Return the ends of the difference's confidence interval.

        Returns
        -------
        tuple of float
            Lower and upper end: infinite if the confidence set is unbounded, NaN if it is empty or missing. The
            interval is the first of `difference.sets`, at the level that `adhere.analyse` was given.

        See Also
        --------
        Comparison.to_frame : The difference, the ratio and the number needed to treat, with their intervals.

        Examples
        --------
        >>> import adhere
        >>> effect = adhere.analyse("stroke-aspirin").effect("intention-to-treat", "aspirin")
        >>> [round(end, 4) for end in effect.conf_int()]
        [-0.0042, 0.0121]

        """
        if not self.difference.sets or self.difference.sets[0].shape is Shape.EMPTY:
            return math.nan, math.nan
        found = self.difference.sets[0]
        return (found.low, found.high) if found.shape is Shape.INTERVAL else (-math.inf, math.inf)

    def to_frame(self) -> polars.DataFrame:
        """Return a row for each confidence set of the difference, the ratio and the number needed to treat.

        Returns
        -------
        polars.DataFrame
            Columns: quantity, estimate, low, high, shape, method, holds. If the shape is "outside", the set is
            everything below `low` or above `high`. `holds` is the guarantee of the set (see `Validity`).

        See Also
        --------
        Analysis.to_polars : The differences of every view and pair of arms.

        Examples
        --------
        >>> import adhere
        >>> adhere.analyse("stroke-aspirin").effect("compliers", "aspirin").to_frame().columns
        ['quantity', 'estimate', 'low', 'high', 'shape', 'method', 'holds']

        """
        import polars

        return polars.DataFrame(
            [
                (name, quantity.value, one.low, one.high, one.shape.value, one.method, one.validity.value)
                for name, quantity in vars(self).items()
                if isinstance(quantity, Quantity)
                for one in quantity.sets
            ],
            {name: polars.Float64 if name in _COLUMNS[1:4] else polars.String for name in _COLUMNS},
            orient="row",
        )

    def __repr__(self) -> str:
        about = f"{self.view.value}, {self.treatment} against {self.control}"
        if not self.difference.sets:
            return f"<Comparison: {about}: {self.difference.reason}>"
        estimate = "no estimate" if self.estimate is None else f"{self.estimate:z.4f}"
        p_value = "" if self.p_value is None else f", p = {self.p_value:.2g}"
        return f"<Comparison: {about}: {estimate} {self.difference.sets[0]}{p_value}>"

    def without(self, nothing: Quantity) -> Comparison:
        """Return the same comparison with a reason instead of numbers."""
        return replace(self, difference=nothing, ratio=nothing, number_needed=nothing, p_value=None, adjusted={})
