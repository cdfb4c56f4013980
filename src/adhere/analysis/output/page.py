"""HTML page of an analysis: the verdict first, then every view in figures and tables, then methods and data."""

import warnings
from collections.abc import Iterator
from typing import Any

from adhere.analysis.estimates import Validity, View
from adhere.analysis.findings import Findings
from adhere.analysis.formatting import first_few, outcome_words, p_value, percent, sentence, unique
from adhere.analysis.output import figures, tables
from adhere.analysis.output.notes import WORDS, methods, notes_of
from adhere.analysis.output.summary import allocation_words, arms_words
from adhere.analysis.sentences import say, texts
from adhere.analysis.trust.estimands import effects_in_words
from adhere.report.numbers import counted
from adhere.report.page import Opening, page
from adhere.report.section import Listing, ReportFigure, Section
from adhere.report.style import SETTINGS, figure_file


def analysis_page(analysis: Findings) -> str:
    """Return the HTML page. The same analysis always gives the same bytes."""
    import matplotlib

    sections = list(analysis_sections(analysis))
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # The font may lack a script. The tables have the names too, and a browser has other fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawn = {one.name: figure_file(one.draw(), ".svg") for section in sections for one in section.all_figures()}
    opening = Opening("In words", unique(analysis.verdict), unique(analysis.warnings))
    title, foot, lead = f"{analysis.title}: what the records say", _foot(analysis), _lead(analysis)
    return page(title, sections, drawn, foot, lead=lead, glossary=WORDS, figure_files=False, opening=opening)


def _section(name: str, **found: Any) -> Section:
    """Return a section with its title, its question and its fixed texts."""
    return Section(name, **(texts("output/sections.toml")[name] | found))


def _lead(analysis: Findings) -> str:
    who = f"{counted(analysis.n_patients, 'patient')}, assigned to {arms_words(analysis)}"
    return f"{who}; {allocation_words(analysis)}; {outcome_words(analysis.lower_is_better)}."


def _foot(analysis: Findings) -> dict[str, str]:
    said = {
        "Data": analysis.source,
        "Digest": analysis.digest,
        "Head of the log": analysis.head,
        "Patients": f"{analysis.n_patients:,}",
        "Columns": ", ".join(f"{name} from {column}" for name, column in analysis.columns.items()),
        "Order": analysis.order,
        "Outcome": outcome_words(analysis.lower_is_better).removeprefix("outcome: "),
        "Level": tables.level_text(analysis),
        "Margin": f"{analysis.mediation.margin:g}",
        "Version": f"adhere {analysis.version}",
    }
    return {name: text for name, text in said.items() if text}


def analysis_sections(analysis: Findings) -> Iterator[Section]:
    """Iterate over the sections of the page, one for each question."""
    yield _effects(analysis)
    yield _section("estimands", listings=[_estimands(analysis)])
    yield _flow(analysis)
    if analysis.sequences:
        yield _sequences(analysis)
    yield _bounds(analysis)
    yield _section(
        "trust",
        result=analysis.mediation.sentence,
        details=[one.sentence for one in analysis.mediation.arms if one.sentence],
        listings=_filled(tables.mediation_table(analysis)),
    )
    yield _section(
        "missing",
        result=analysis.missing.sentence,
        details=[analysis.missing.loss.sentence] if analysis.missing.loss is not None else [],
        listings=_filled(tables.missing_table(analysis)),
    )
    subgroups = tables.subgroups_table(analysis)
    if subgroups.rows:
        yield _section(
            "subgroups",
            result=f"Intention-to-treat in each of {len(analysis.subgroups)} strata, beside all patients.",
            figures=_drawn(figures.subgroups_figure(analysis)),
            listings=[Listing(subgroups.caption, subgroups.header, subgroups.rows, folded=len(subgroups.rows) > 12)],
        )
    if analysis.randomisation:
        yield _randomisation(analysis)
    yield _section("notes", details=notes_of(analysis))
    yield _section("methods", details=methods(analysis))


def _effects(analysis: Findings) -> Section:
    every = analysis.pairs
    against = [pair for pair in every if pair[1] == analysis.control]
    is_small = len(analysis.arms) <= tables.MAX_ARMS
    listings = [tables.effects_table(analysis, *pair) for pair in against] if is_small else []
    listings = [Listing(one.caption, one.header, one.rows, len(listings) > 2) for one in listings]
    if against:
        listings += [tables.pairs_table(analysis, against)] if len(against) > 1 else []
        ratios = tables.ratios_table(analysis, against)
        listings += _filled(Listing(ratios.caption, ratios.header, ratios.rows, len(ratios.rows) > 12))
    if len(every) > len(against):
        others = tables.pairs_table(analysis, every[len(against) :])
        listings.append(Listing("The other pairs of arms: intention-to-treat", others.header, others.rows, True))
    return _section(
        "effects",
        result=_effects_result(analysis),
        uncertainty=_effects_uncertainty(analysis),
        figures=_drawn(figures.forest_figure(analysis)),
        listings=[*listings, *_filled(tables.means_table(analysis))],
    )


def _effects_result(analysis: Findings) -> str:
    said = effects_in_words(analysis, View.INTENTION_TO_TREAT)
    if not said:
        return "No two arms can be compared."
    each = first_few([f"{arm} {text}" for arm, text in said.items()], tables.MAX_ARMS, " in the table")
    return f"Difference in mean outcome, assigned it rather than {analysis.control}: {each}."


def _effects_uncertainty(analysis: Findings) -> str:
    level = tables.level_text(analysis)
    if any(analysis.missing.outcomes.values()):
        return _uncertainty_with_missing(analysis)
    if analysis.adaptive:
        promised = any(one.validity is Validity.ADAPTIVE for of in analysis.aipw for one in of.difference.sets)
        weighted = ", and those of AIPW at a time fixed in advance" * promised
        fate = "are withheld" if analysis.mixes_strata else "may miss more often"
        return say("keeps_if_adaptive", level=level, weighted=weighted, fate=fate)
    if analysis.has_probabilities:
        return say("keeps_with_probabilities", level=level)
    return say("keeps_if_declared" if analysis.fixed_allocation else "keeps_if_fixed", level=level)


def _uncertainty_with_missing(analysis: Findings) -> str:
    """Describe the assumption about missing outcomes under which each kind of set keeps its level."""
    level, n_missing = tables.level_text(analysis), sum(analysis.missing.outcomes.values())
    missing = "One outcome is missing" if n_missing == 1 else f"{n_missing:,} outcomes are missing"
    at_random = "if they are missing at random given the arm assigned, what was taken and the stratum"
    worst = " Worst-case bounds assume nothing of them." if analysis.missing.extremes else ""
    if analysis.sequences:
        fixed = "fixed-sample ones do not hold for an adaptive allocation, and assume" if analysis.adaptive else ""
        others = f"; {fixed} that they are missing at random" if fixed else f", fixed-sample ones {at_random}"
        if analysis.adaptive and analysis.mixes_strata:
            others = "; fixed-sample ones are withheld"
        return say("missing_in_sequences", missing=missing, others=others, worst=worst)
    fixed = ", arms were drawn with fixed probabilities, and this is the only look"
    look = "" if analysis.fixed_allocation else fixed
    reach = {"level": level, "at_random": at_random, "look": look}
    return say("missing_if_fixed", missing=missing, **reach, worst=worst)


def _estimands(analysis: Findings) -> Listing:
    rows = [[one.view, one.estimand, one.strategy, one.assumes, one.says] for one in analysis.estimands]
    header = ["view", "estimand", "strategy, ICH E9(R1)", "assumes", "says here"]
    return Listing("Estimands in words", header, rows)


def _flow(analysis: Findings) -> Section:
    total = analysis.flow.total
    patients = counted(total.assigned, "patient")
    return _section(
        "flow",
        result=say("took_what_was_assigned", compliance=percent(total.compliance), total=total, patients=patients),
        uncertainty=f"Intervals of shares are Wilson's, {tables.level_text(analysis)}.",
        figures=_drawn(figures.flow_figure(analysis), figures.matrix_figure(analysis)),
        listings=[tables.flow_table(analysis), tables.compliance_table(analysis)],
    )


def _sequences(analysis: Findings) -> Section:
    check = analysis.allocation
    return _section(
        "sequences",
        result=check.sentence if check else "Sets that are valid whenever the trial stops.",
        figures=_drawn(figures.bands_figure(analysis)),
        listings=[tables.sequences_table(analysis), *([tables.allocation_table(analysis)] if check else [])],
    )


def _bounds(analysis: Findings) -> Section:
    return _section(
        "bounds",
        result=analysis.bounds.inequality.sentence,
        details=[sentence(one) for one in unique([analysis.strata.reason, analysis.strata.note])],
        listings=_filled(tables.bounds_table(analysis), tables.strata_table(analysis)),
    )


def _randomisation(analysis: Findings) -> Section:
    run = [one for one in analysis.randomisation if one.p_value is not None]
    shown = [f"{one.treatment} against {one.control}: p {p_value(one.p_value)}" for one in run]
    return _section(
        "replay",
        result=f"{first_few(shown, tables.MAX_ARMS, ' in the table')}." if run else "It was not run.",
        details=unique([one.reason for one in analysis.randomisation]),
        listings=_filled(tables.randomisation_table(analysis)),
    )


def _filled(*listings: Listing) -> list[Listing]:
    return [one for one in listings if one.rows]


def _drawn(*found: ReportFigure | None) -> list[ReportFigure]:
    return [one for one in found if one is not None]
