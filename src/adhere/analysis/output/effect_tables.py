"""Effects as tables: all views of one pair of arms, ratios and numbers needed, every pair in a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adhere.analysis.output.effect_rows import (
    MISLEADING,
    NO_ESTIMAND,
    STRATIFIED,
    WITHHELD,
    assigned_effect,
    effect_rows,
    pairs,
    view_name,
)
from adhere.analysis.output.tables import STARRED, difference_text, level_text, promise
from adhere.analysis.output.texts import UNKNOWN, estimate, needed, p_value, quantity, set_text, signed
from adhere.analysis.trust.withheld import ADAPTS_BY_STRATUM
from adhere.analysis.view import View
from adhere.report.section import Listing

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis
    from adhere.analysis.fixed_sample.comparison import Comparison
    from adhere.analysis.missing_outcomes.tipping_points import TippingPoint


def effects_table(analysis: Analysis, treatment: str, control: str, *, nested: bool = False) -> Listing:
    """Every estimate of one effect: what it is, its set, and what that promises.

    Where they are `nested`, further methods of a view stand under the first without its name.
    """
    rows: list[list[str]] = []
    seen: set[str] = set()
    for row in effect_rows(analysis, treatment, control):
        value = UNKNOWN if row.value is None else signed(row.value)
        found = set_text(row.found)
        if row.bar is not None:
            value = f"{row.bar[0]:z.3f} to {row.bar[1]:z.3f}"
        if row.tipping is not None:
            value, found = tipping_text(row.tipping)
        star = f" {STARRED}" if row.kind == NO_ESTIMAND else ""
        label = f"  {row.method}" if nested and row.view in seen else row.label
        seen.add(row.view)
        rows.append([label + star, value, found, row.holds])
    caption = f"{treatment} against {control}: difference in mean outcome"
    return Listing(caption, ["view", "estimate", f"{level_text(analysis)} set", "holds"], rows)


def tipping_text(point: TippingPoint) -> tuple[str, str]:
    """The means of an arm's missing outcomes at which an interval touches 0, and their mean if missing at random."""
    values = [f"{one:.3f}" for one in point.tipping_means]
    return " or ".join(values) or "none, 0 to 1", f"at random {point.mean_at_random:.3f}"


def ratios_table(analysis: Analysis, shown: Sequence[tuple[str, str]]) -> Listing:
    """Ratios, numbers needed and p-values of these pairs, without those that are withheld."""
    found = [
        one
        for one in analysis.effects.comparisons
        if (one.treatment, one.control) in shown and one.difference.reason not in WITHHELD
    ]
    found.sort(key=lambda one: shown.index((one.treatment, one.control)))
    corrections = list(dict.fromkeys(name for one in found for name in one.adjusted))
    several = len(shown) > 1
    rows = [
        [
            *([f"{one.treatment} against {one.control}"] if several else []),
            view_name(analysis, one) + (f" {STARRED}" if one.view in MISLEADING else ""),
            UNKNOWN if one.ratio.value is None and not one.ratio.sets else quantity(one.ratio),
            needed(one.number_needed),
            p_value(one.p_value),
            *(p_value(one.adjusted.get(name)) for name in corrections),
        ]
        for one in found
    ]
    header = ["view", f"ratio [{level_text(analysis)}]", "number needed to treat", "p"]
    header = [*(["comparison"] if several else []), *header, *corrections]
    whose = "" if several else f"{shown[0][0]} against {shown[0][1]}: "
    return Listing(f"{whose}ratio of means, number needed to treat, p{promise(analysis)}", header, rows)


def pairs_table(analysis: Analysis, shown: Sequence[tuple[str, str]]) -> Listing:
    """A line for each of these pairs: intention-to-treat, and its confidence sequence where there is one."""
    sequences = {
        (one.treatment, one.control): one for one in analysis.sequences if one.view is View.INTENTION_TO_TREAT
    }
    compared: dict[tuple[str, str], Comparison] = {}
    for one in analysis.effects.comparisons:
        if one.view is View.INTENTION_TO_TREAT:
            compared.setdefault((one.treatment, one.control), one)
    corrections = list(dict.fromkeys(name for pair in shown for name in compared[pair].adjusted))
    rows = []
    for pair in shown:
        one = compared[pair]
        row = [f"{pair[0]} against {pair[1]}", difference_text(one.difference), p_value(one.p_value)]
        row += [p_value(one.adjusted.get(name)) for name in corrections]
        rows.append(row + ([set_text(sequences[pair].final) if pair in sequences else UNKNOWN] if sequences else []))
    header = ["comparison", f"difference [{level_text(analysis)}]", "p", *corrections]
    header += ["any-time valid set"] if sequences else []
    how = STRATIFIED if any(compared[pair].stratified for pair in shown) else ""
    return Listing(f"Intention-to-treat{how}, pair by pair{promise(analysis)}", header, rows)


def sequences_table(analysis: Analysis) -> Listing:
    """Where each confidence sequence ended."""
    rows = [
        [
            f"{one.treatment} against {one.control}",
            one.view.value,
            UNKNOWN if one.estimate is None else signed(one.estimate),
            set_text(one.final),
            p_value(one.p_value),
            f"{one.n_used:,}",
            f"{one.n_pending:,}",
        ]
        for one in analysis.sequences
    ]
    header = ["comparison", "view", "estimate", f"{level_text(analysis)} set", "p, any time", "used", "pending"]
    return Listing("Confidence sequences at the end of the records", header, rows)


def subgroups_table(analysis: Analysis) -> Listing:
    """The intention-to-treat difference in each stratum, against control."""
    several = len(analysis.arms) > 2
    rows: list[list[str]] = []
    for name, group in analysis.subgroups.items():
        for pair in pairs(analysis):
            found = assigned_effect(group, *pair, adaptive=analysis.adaptive)
            if found is not None and pair[1] == analysis.control:
                comparison = [f"{pair[0]} against {pair[1]}"] if several else []
                rows.append([name, f"{group.n_patients:,}", *comparison, estimate(*found, sign=True)])
    heads = ["stratum", "patients", *(["comparison"] if several else []), f"difference [{level_text(analysis)}]"]
    kind = ", any-time valid" if analysis.adaptive and analysis.sequences else promise(analysis)
    if analysis.adaptive and analysis.mixes_strata and not analysis.sequences:
        kind = f" ({WITHHELD[ADAPTS_BY_STRATUM]})"
    return Listing(f"Subgroups: intention-to-treat by stratum{kind}", heads, rows)
