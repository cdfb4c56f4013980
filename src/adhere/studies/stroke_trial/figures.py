"""The figures and listings of the stroke trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

from adhere.report.dot_rows import Reference, common_limits
from adhere.report.dots import dots
from adhere.report.headline_chart import HeadlineRow, headline_dots
from adhere.report.numbers import estimate_texts
from adhere.report.section import Listing, ReportFigure
from adhere.simulation.simulate import POOLED
from adhere.studies.framework.words import ends
from adhere.studies.lineup.entries import (
    ALL,
    BOUNDED,
    EXP3,
    GREEDY,
    HEADLINES,
    HIERARCHICAL,
    LEARNERS,
    LITERAL,
    PLAIN,
    RECYCLING,
    SHOWN_ALONG,
    STRATEGIES,
    Entry,
)
from adhere.studies.lineup.figures import along_chart, final_surplus, policy_listing, policy_texts
from adhere.studies.stroke_trial.experiments import ASPIRIN, HEPARIN
from adhere.studies.stroke_trial.published import HEADLINE_FIGURES, NAMES
from adhere.studies.stroke_trial.tables import Facts, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {ASPIRIN: "aspirin", HEPARIN: "heparin", POOLED: "mean of both"}
_READINGS = (LITERAL, PLAIN, RECYCLING)  # from the paper's letter on
_PAPER = "the paper's figure (dashed) and its 95% interval"


def make_figures(facts: Facts) -> list[ReportFigure]:
    """All figures of the study."""
    few, many, n = facts.few, facts.many, facts.n_patients
    note = f"Means of {few:,} runs of {n:,} patients; 95% intervals."
    return [
        ReportFigure(
            "stroke-headline",
            "The three figures of the paper's text (bands) and ours on ε-greedy in every reading: "
            f"{few:,} runs, and {many:,} for the settings that stand for the paper's lines.",
            "Dots with intervals: pooled surplus lives of Thompson sampling, ThompsonBounded and "
            "HierarchicalBandit in all readings, over bands with the paper's intervals.",
            lambda: _headline_chart(facts),
        ),
        *(
            ReportFigure(
                f"stroke-along-{title.replace(' ', '-')}",
                f"Surplus lives after t patients, {title}; γ = 0.085. ThompsonBounded with all experts learning, "
                "and on ε-greedy also with recycling, the reading that stands for the paper's line.",
                f"Lines with bands: surplus along the trial, {title}; a panel for each learner.",
                lambda population=population: along_chart(facts.along, population, "surplus lives", note),  # type: ignore[misc]
            )
            for population, title in _TITLES.items()
        ),
        ReportFigure(
            "stroke-final",
            "Surplus lives after the last patient: four learners under five strategies (γ = 0.085), and the reading "
            "of ThompsonBounded that stands for the paper's line.",
            "Dots with intervals: final surplus lives by learner and strategy, on both trials and pooled.",
            lambda: _by_trial(final_surplus(facts.final, SHOWN_ALONG, _TITLES), facts, note),
        ),
        ReportFigure(
            "stroke-variants",
            "EXP3, and the hybrids in every variant: γ = 0.085 as in the paper, 0.0085 as its bound has it; without "
            "and with recycling; ThompsonBounded as written (literal), with all experts learning, and recycling.",
            "Dots with intervals: final surplus lives of EXP3 and of the hybrids by reading, recycling and gamma.",
            lambda: _variants_chart(facts, note),
        ),
    ]


def _headline_chart(facts: Facts) -> Figure:
    few, many = facts.few, facts.many
    groups = {
        NAMES[HEADLINES[0]]: [HEADLINES[0]],
        NAMES[HEADLINES[1]]: sorted(
            (one for one in ALL if (one.learner, one.strategy) == (GREEDY, BOUNDED)),
            key=lambda one: (-(one.gamma or 0.0), _READINGS.index(one.variant)),
        ),
        NAMES[HEADLINES[2]]: [one for one in ALL if (one.learner, one.strategy) == (GREEDY, HIERARCHICAL)],
    }
    rows = []
    for group, entries in groups.items():
        for one in entries:
            row = {"group": group, "row": _reading(one), "panel": ""}
            rows.append({**row, "style": f"{few:,} runs", **vars(facts.surplus(one))})
            if one in HEADLINES:
                rows.append({**row, "style": f"{many:,} runs", **vars(facts.surplus(one, n_runs=many))})
    bands = [
        Reference(_PAPER, "", published.low, published.high, published.mean, group=NAMES[one])
        for one, published in HEADLINE_FIGURES.items()
    ]
    return dots(
        polars.DataFrame(rows),
        x_label=f"{_lives(facts)}, mean of both trials",
        references=bands,
        note="* stands for the paper's line; ThompsonBounded's was chosen after seeing results.",
    )


def _reading(one: Entry) -> str:
    """What sets a policy apart from the others of its group."""
    plain = "all experts learn" if one.strategy == BOUNDED else "no recycling"
    reading = {"": plain, "literal": "as written (literal)"}.get(one.variant, one.variant)
    if one.gamma is None:
        return "no variants *"
    return f"{reading}, γ = {one.gamma}{' *' if one in HEADLINES else ''}"


def _variants_chart(facts: Facts, note: str) -> Figure:
    entries = [one for one in ALL if one.learner == EXP3 or one.strategy in (HIERARCHICAL, BOUNDED)]
    entries.sort(key=lambda one: (LEARNERS.index(one.learner), STRATEGIES.index(one.strategy), one.variant))
    labels = {one.policy: _short(one) for one in entries}
    table = final_surplus(facts.final, entries, _TITLES).with_columns(
        row=polars.col("policy").replace_strict(labels), style=polars.format("γ = {}", "gamma")
    )
    return _by_trial(table, facts, note)


def _lives(facts: Facts) -> str:
    return f"surplus lives among {facts.n_patients:,} patients"


def _by_trial(table: polars.DataFrame, facts: Facts, note: str) -> Figure:
    """A panel for each trial and one for both; one scale for all, which have the same unit."""
    return dots(
        table,
        x_label=_lives(facts),
        limits=dict.fromkeys(_TITLES.values(), common_limits(table)),
        note=note,
    )


def _short(one: Entry) -> str:
    """A label that fits beside three panels."""
    strategy = {HIERARCHICAL: "Hierarchical", BOUNDED: "Bounded"}.get(one.strategy, one.strategy)
    variant = one.variant or ("all learn" if one.strategy == BOUNDED else "")
    return ", ".join(filter(None, [strategy, variant]))


def headline(facts: Facts) -> ReportFigure:
    """The three figures of the paper's text, for the top of the report."""
    rows = [
        HeadlineRow(NAMES[one], facts.surplus(one, n_runs=facts.few), (published.low, published.high))
        for one, published in HEADLINE_FIGURES.items()
    ]
    return ReportFigure(
        "headline-stroke",
        "The hybrids save more lives than Thompson sampling, as in the paper; for ThompsonBounded this depends on "
        "its reading."
        if all(ends(facts.surplus(one, measure="difference", n_runs=facts.few))[0] > 0 for one in HEADLINES[1:])
        else "The hybrids do not both save more lives than Thompson sampling, beyond chance.",
        "Dots with intervals: pooled surplus lives of the paper's three policies, over bands with its own intervals.",
        lambda: headline_dots(
            "The stroke trial", rows, f"lives saved among {facts.n_patients:,} patients", "the paper's interval"
        ),
    )


def make_listings(facts: Facts) -> list[Listing]:
    """The headline figures in numbers, and every policy's."""
    shown = [(population, "surplus") for population in _TITLES]
    shown += [(POOLED, "realised_surplus"), (POOLED, "difference")]
    columns = [estimate_texts([facts.surplus(one, *column) for one in ALL]) for column in shown]
    header = ("aspirin", "heparin", "pooled", "pooled, realised", "pooled, minus Thompson")
    every = policy_listing("Surplus lives of every policy, with 95% intervals.", header, columns)
    return [_headline_listing(facts), every, policy_texts()]


def _headline_listing(facts: Facts) -> Listing:
    few, many = facts.few, facts.many
    rows = [
        (NAMES[one], str(published), kind, f"{n:,}", text(ours, 2), published.verdict_and_place(ours))
        for one, published in HEADLINE_FIGURES.items()
        for kind, measure in (("expected", "surplus"), ("realised", "realised_surplus"))
        for n in (few, many)
        for ours in [facts.surplus(one, measure=measure, n_runs=n)]
    ]
    header = ("line of the paper", "the paper", "surplus", "runs", "ours", "verdict")
    caption = (
        "Pooled surplus lives of the paper's three policies, with 95% intervals; the paper's standard error is its "
        "interval's width / 3.92. Realised: rewards minus the mean, over arms, of the same patients' rewards."
    )
    return Listing(caption, header, rows)
