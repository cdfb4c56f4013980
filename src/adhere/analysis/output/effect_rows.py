"""Every estimate of one effect: each view by each method, the bounds, and sensitivity to missing values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from adhere.analysis.bounding.bounds import Bound
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Shape, Validity, View
from adhere.analysis.findings import Findings
from adhere.analysis.fixed_sample.effects import NO_ESTIMAND as NO_ESTIMAND
from adhere.analysis.formatting import ASSUMPTIONS, UNKNOWN, estimate, p_value
from adhere.analysis.missing_outcomes.sensitivity import LATENT, TippingPoint
from adhere.analysis.trust.withheld import WITHHELD

if TYPE_CHECKING:
    import polars as pl

NOT_ADAPTIVE = "fixed-sample, not adaptive"  # not valid for the actual allocation
BOUNDS = "bounds and their limits"
WORST_CASE = "worst-case bounds"
TIPPING = "tipping point"
NO_DEFIERS = "if no defiers"
AT_RANDOM = "if missing at random"
LIKE_THEIR_ARM = "if lost by arm alone"
LATENTLY = "if missing by compliance type"
REFUTED = Validity.REFUTED.value
KINDS = (*(one.value for one in Validity if one is not Validity.REFUTED), NO_ESTIMAND, BOUNDS, WORST_CASE, REFUTED)
MISLEADING = (View.AS_TREATED, View.PER_PROTOCOL)


class EffectRow(NamedTuple):
    """One estimate of the effect of a treatment, with its view, its method and its guarantee."""

    view: str
    method: str  # empty if the view has only one method
    kind: str
    value: float | None
    found: ConfidenceSet | None
    bar: tuple[float, float] | None = None
    reason: str = ""
    p: float | None = None  # p-value of a set that has no table of p-values
    assumes: str = ""  # assumption on missing outcomes, if there are any
    tipping: TippingPoint | None = None

    @property
    def label(self) -> str:
        """View and method, as a label."""
        return f"{self.view}, {self.method}" if self.method else self.view

    @property
    def holds(self) -> str:
        """Guarantee of the set, and the allocation for which it is valid."""
        if self.reason in WITHHELD:
            return WITHHELD[self.reason]
        if self.tipping is not None:
            return self.kind if self.kind == NOT_ADAPTIVE else "where the set touches 0"
        if self.found is None:
            return UNKNOWN
        if self.kind in (NOT_ADAPTIVE, REFUTED):
            return self.kind
        promises = self.found.validity is not Validity.APPROXIMATE
        is_on_compliers = self.view.startswith(View.COMPLIERS.value)
        assumed = [NO_DEFIERS] * (promises and is_on_compliers) + [self.assumes] * bool(self.assumes)
        p = [] if self.p is None else [f"p {p_value(self.p)}"]
        return ", ".join([self.found.validity.value, *assumed, *p])

    @property
    def text(self) -> str:
        """Estimate and set, as text."""
        if self.bar is not None:
            return f"{self.bar[0]:z.3f} to {self.bar[1]:z.3f}" + (f" {self.found}" if self.found else "")
        if self.reason in WITHHELD:
            return "withheld"
        return UNKNOWN if self.value is None and self.found is None else estimate(self.value, self.found, sign=True)

    @property
    def pieces(self) -> list[tuple[float, float]]:
        """Set as a list of intervals."""
        if self.found is None or self.found.shape is Shape.EMPTY:
            return []
        if self.found.shape is Shape.EVERYTHING:
            return [(-math.inf, math.inf)]
        if self.found.shape is Shape.OUTSIDE:
            return [(-math.inf, self.found.low), (self.found.high, math.inf)]
        return [(self.found.low, self.found.high)]


def effects_frame(analysis: Findings) -> pl.DataFrame:
    """Return a data frame with a row for each estimate of each pair of arms."""
    import polars as pl

    rows = []
    for treatment, control in analysis.pairs:
        for row in effect_rows(analysis, treatment, control):
            low, high = (math.nan, math.nan) if not row.pieces else (row.pieces[0][0], row.pieces[-1][1])
            said = {"treatment": treatment, "control": control, "view": row.view, "method": row.method}
            rows.append({**said, "estimate": row.value, "low": low, "high": high, "holds": row.holds})
    numbers = dict.fromkeys(("estimate", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=numbers).with_columns(pl.col("low", "high").fill_nan(None))


def effect_rows(analysis: Findings, treatment: str, control: str) -> list[EffectRow]:
    """Return every estimate of one effect."""
    pair = (treatment, control)
    rows: list[EffectRow] = []
    for view in View:
        for one in analysis.effects.comparisons:
            if one.view is view and one.pair == pair:
                rows += _compared(analysis, one)
                rows += _if_missing_otherwise(analysis, one)
        for sequence in analysis.sequences:
            if sequence.view is view and sequence.pair == pair:
                kind = _kind(view, sequence.final)
                row = EffectRow(view.value, "confidence sequence", kind, sequence.estimate, sequence.final)
                rows.append(row._replace(p=sequence.p_value))
        for weighted in analysis.aipw:
            if weighted.view is view and weighted.pair == pair:
                assumes = LIKE_THEIR_ARM if any(analysis.missing.outcomes.values()) else ""
                rows.append(_of_first_set(view.value, "AIPW", Validity.ADAPTIVE, weighted.difference, assumes))
    rows += [_bounded(one) for one in analysis.bounds.bounds if (one.treatment, one.control) == pair]
    rows = [
        one._replace(kind=REFUTED) if one.found and one.found.validity is Validity.REFUTED else one for one in rows
    ]
    if analysis.adaptive:
        fixed = (Validity.FIXED.value, TIPPING)
        rows = [one._replace(kind=NOT_ADAPTIVE) if one.kind in fixed else one for one in rows]
    return rows


def _if_missing_otherwise(analysis: Findings, one: Comparison) -> Iterator[EffectRow]:
    """Iterate over rows of the comparison's effect under other assumptions on missing values."""
    view, missing = analysis.view_name(one), analysis.missing
    for other in missing.sensitivity.alternatives:
        is_latent = other.assumption == LATENT
        beside = not one.stratified if is_latent else other.stratified is one.stratified
        if other.is_like(one) and beside:
            assumes = LATENTLY if is_latent else LIKE_THEIR_ARM
            yield _of_first_set(view, other.assumption, Validity.FIXED, other.difference, assumes)
    for extreme in missing.extremes:
        if extreme.is_like(one) and extreme.stratified is one.stratified:
            bar = (extreme.low, extreme.high)
            yield EffectRow(view, WORST_CASE, WORST_CASE, None, extreme.limits, bar)
    for point in missing.sensitivity.tipping_points:
        if point.is_like(one) and point.stratified is one.stratified:
            yield EffectRow(view, f"tipping point of {point.arm}", TIPPING, None, None, tipping=point)


def _of_first_set(view: str, method: str, promise: Validity, one: Quantity, assumes: str) -> EffectRow:
    """Return the row of a quantity with its first set; if it has no set, the row's kind is the `promise`."""
    found = one.sets[0] if one.sets else None
    kind = (found.validity if found else promise).value
    return EffectRow(view, method, kind, one.value, found, reason=one.reason, assumes=assumes)


def _compared(analysis: Findings, one: Comparison) -> Iterator[EffectRow]:
    view = analysis.view_name(one)
    if not one.difference.sets:
        kind = NO_ESTIMAND if one.view in MISLEADING else Validity.FIXED.value
        yield EffectRow(view, "", kind, one.difference.value, None, reason=one.difference.reason)
    assumes = AT_RANDOM if one.at_random else ""
    for found in one.difference.sets:
        method = found.method if len(one.difference.sets) > 1 else ""
        yield EffectRow(view, method, _kind(one.view, found), one.difference.value, found, assumes=assumes)


def _kind(view: View, found: ConfidenceSet) -> str:
    return NO_ESTIMAND if view in MISLEADING else found.validity.value


def _bounded(one: Bound) -> EffectRow:
    bar = None if one.low is None or one.high is None else (one.low, one.high)
    how = ASSUMPTIONS.get(one.assumption, one.assumption)
    return EffectRow("bounds", how, BOUNDS, None, one.limits, bar, one.reason)
