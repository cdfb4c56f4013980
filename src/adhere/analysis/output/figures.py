"""Figures of an analysis: flow and compliance, all views on one axis, sequences over time, and subgroups."""

from collections.abc import Iterator

from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.estimates import Shape, View
from adhere.analysis.findings import Findings, Subgroup
from adhere.analysis.flow import ArmFlow
from adhere.analysis.formatting import apart_from, percent
from adhere.analysis.output.effect_rows import KINDS, NOT_ADAPTIVE, REFUTED, EffectRow, effect_rows
from adhere.analysis.output.tables import MAX_ARMS, level_text
from adhere.analysis.sentences import say
from adhere.report.band_over_time import Band, band_over_time, is_cut
from adhere.report.compliance_matrix import MAX_HALF, MatrixRow, compliance_matrix, share_text
from adhere.report.consort_flow import FlowBox, FlowColumn, consort_flow
from adhere.report.forest_plot import ForestRow, forest_plot, marks_in_words
from adhere.report.numbers import counted
from adhere.report.section import ReportFigure

_MAX_BANDS, _MAX_STRATA_ROWS, _MAX_MATRIX = 12, 60, 12
_ZERO = "no difference"


def forest_figure(analysis: Findings) -> ReportFigure | None:
    """Forest plot of all views of every treatment against control; with many arms, only intention-to-treat."""
    is_small = len(analysis.arms) <= MAX_ARMS
    rows = [
        _forest_row(f"{treatment} against {control}", row)
        for treatment, control in analysis.pairs
        if control == analysis.control
        for row in effect_rows(analysis, treatment, control)
        if row.tipping is None and (is_small or row.view.startswith(View.INTENTION_TO_TREAT.value))
    ]
    if not rows:
        return None
    level = level_text(analysis)
    is_refuted = any(row.kind == REFUTED for row in rows)
    refuted = " Grey and hollow: the data refute what it rests on." if is_refuted else ""
    return ReportFigure(
        "forest",
        say("figure_forest", level=level, refuted=refuted, marks=marks_in_words(rows)),
        "; ".join(f"{row.group}, {row.label}: {row.text}" for row in rows),
        lambda: forest_plot(
            rows,
            kinds=(NOT_ADAPTIVE, *KINDS[1:]) if analysis.adaptive else KINDS,  # a figure has only one of the two
            x_label="difference in mean outcome (above zero the treatment does better)",
            heading=f"estimate [{level} set]",
            zero=_ZERO,
            hollow=(REFUTED,),
        ),
        wide=True,
    )


def _forest_row(group: str, row: EffectRow) -> ForestRow:
    return ForestRow(group, row.label, row.kind, row.value, row.pieces, row.text.replace("-", "−"), row.bar)


def flow_figure(analysis: Findings) -> ReportFigure:
    """CONSORT flow diagram of the patients."""
    found = analysis.flow
    columns = [FlowColumn(f"assigned {one.arm}: {one.assigned:,}", list(_flow_boxes(one))) for one in found.arms]
    left_out = [f"{reason}: {counted(n, 'row')}" for reason, n in found.left_out.items() if n]
    return ReportFigure(
        "flow",
        say("figure_flow"),
        "; ".join(f"{one.heading}, {', '.join(box.text for box in one.boxes)}" for one in columns),
        lambda: consort_flow(
            f"patients: {analysis.n_patients:,}", ["left out", *left_out] if left_out else [], columns
        ),
        wide=True,
    )


def _flow_boxes(one: ArmFlow) -> Iterator[FlowBox]:
    def text(what: str, n: int) -> str:
        return f"{what}: {n:,} ({share_text(n / one.assigned)})" if one.assigned else f"{what}: {n:,}"

    yield FlowBox(text(f"took {one.arm}", one.took_it))
    others = {arm: n for arm, n in one.took_others.items() if n}
    if len(others) > MAX_ARMS:
        others = {"another arm": one.crossed_over}
    arms = {one.arm, *one.took_others}
    off_path = [
        *((f"took {arm}", n) for arm, n in others.items()),
        (f"took {apart_from(arms, 'nothing')}", one.took_nothing),
        (f"took {apart_from(arms, 'something else')}", one.took_other),
        ("not reported", one.not_reported),
        ("lost to follow-up", one.lost),
    ]
    yield from (FlowBox(text(what, n), True) for what, n in off_path if n)
    yield FlowBox(text("outcome known", one.outcome_known), opens=True)
    ends = {"outcome imputed": one.outcome_imputed, "outcome missing": one.outcome_missing}
    yield from (FlowBox(text(what, n), True) for what, n in ends.items() if n)


def matrix_figure(analysis: Findings) -> ReportFigure | None:
    """Matrix of arms taken by arms assigned; None if there are many arms, for which a table is clearer."""
    arms = analysis.flow.arms
    if len(arms) > _MAX_MATRIX:
        return None
    more = {
        "nothing": [one.took_nothing for one in arms],
        "something else": [one.took_other for one in arms],
        "not known": [one.not_reported + one.lost for one in arms],
    }
    rows = []
    for number, one in enumerate(arms):
        taken = {arm: one.took_it if arm == one.arm else one.took_others.get(arm, 0) for arm in analysis.arms}
        taken |= {apart_from(analysis.arms, f"({what})"): n[number] for what, n in more.items() if any(n)}
        rows.append(MatrixRow(one.arm, taken, percent(one.compliance)))
    level = level_text(analysis)
    return ReportFigure(
        "compliance",
        say("figure_matrix", level=level),
        "; ".join(f"assigned {row.label}, took it: {row.took_it}" for row in rows),
        lambda: compliance_matrix(rows, interval=f"took it [{level}]"),
        wide=len(rows[0].taken) > MAX_HALF,
    )


def bands_figure(analysis: Findings) -> ReportFigure | None:
    """Confidence sequences against control, over the number of patients."""
    shown = [one for one in analysis.sequences if one.control == analysis.control and len(one.t)][:_MAX_BANDS]
    bands = [_band(analysis, one) for one in shown]
    if not bands:
        return None
    level = level_text(analysis)
    return ReportFigure(
        "sequences",
        say("figure_sequences", level=level, cut=" Wide beginnings are cut off." * any(map(is_cut, bands))),
        "; ".join(f"{one.title}: at the end {one.low[-1]:z.3f} to {one.high[-1]:z.3f}" for one in bands),
        lambda: band_over_time(
            bands,
            y_label="difference in mean outcome",
            band=f"{level} confidence sequence",
            beside=f"{level} fixed-sample interval, beside it",
        ),
        wide=True,
    )


def _band(analysis: Findings, one: ConfidenceSequence) -> Band:
    alike = [each.difference for each in analysis.effects.comparisons if each.is_like(one)]
    sets = [each.sets[0] for each in alike if each.sets and each.sets[0].is_bounded]
    # No effect is beyond -1 or 1, so the panel does not need to extend further.
    intervals = [(max(each.low, -1.0), min(each.high, 1.0)) for each in sets if each.shape is Shape.INTERVAL]
    beside = intervals[0] if intervals else None
    several = len(analysis.arms) > 2
    title = f"{one.view.value}: {one.treatment} against {one.control}" if several else one.view.value
    times, low, high = one.t.tolist(), one.low.tolist(), one.high.tolist()
    return Band(title, times, low, high, one.estimate, beside, one.drift_at)


def subgroups_figure(analysis: Findings) -> ReportFigure | None:
    """Intention-to-treat effect in each stratum and in all patients."""
    every = Subgroup(analysis.n_patients, analysis.effects, analysis.sequences)
    groups = {
        "all patients": every,
        **{f"{name} ({one.n_patients:,})": one for name, one in analysis.subgroups.items()},
    }
    rows = [
        _forest_row(f"{pair[0]} against {pair[1]}", EffectRow(name, "", kind, *found))
        for pair in analysis.pairs
        if pair[1] == analysis.control
        for name, one in groups.items()
        for kind in ["all patients" if one is every else "stratum"]
        if (found := one.assigned_effect(*pair, adaptive=analysis.adaptive))
    ]
    if len(groups) < 2 or not any(row.pieces for row in rows):
        return None
    level = level_text(analysis)
    any_time = "; any-time valid, as the allocation adapted" * (analysis.adaptive and bool(analysis.sequences))
    return ReportFigure(
        "subgroups",
        say("figure_subgroups", level=level, any_time=any_time, marks=marks_in_words(rows[:_MAX_STRATA_ROWS])),
        "; ".join(f"{row.group}, {row.label}: {row.text}" for row in rows),
        lambda: forest_plot(
            rows[:_MAX_STRATA_ROWS],
            kinds=["stratum", "all patients"],
            x_label="difference in mean outcome",
            heading=f"estimate [{level} set]",
            zero=_ZERO,
        ),
        wide=True,
    )
