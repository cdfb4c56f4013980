"""HTML page of an evaluation to attach to a protocol: the design in words, scenarios and characteristics."""

import warnings
from collections.abc import Iterator, Sequence

import matplotlib

from adhere.analysis.formatting import sentence
from adhere.design.words import in_words
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.output import sentences, tables
from adhere.evaluation.output.figures import (
    allocation_figure,
    convergence_figure,
    estimates_figures,
    size_figure,
    status_figure,
)
from adhere.evaluation.output.grid_figures import errors_figure, power_figure
from adhere.evaluation.output.side_by_side import designs_table, differences_figure, differences_table
from adhere.evaluation.output.words import WORDS, design_fields, section_prose
from adhere.report.page import page
from adhere.report.section import Listing, ReportFigure, Section
from adhere.report.style import SETTINGS, figure_file


def design_page(evaluation: EvaluationData, command: str = "") -> str:
    """Return the HTML page; the same evaluation gives the same bytes. `command` is the command that repeats it."""
    sections = design_sections(evaluation)
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # The font may lack a script. The tables have the names too, and a browser has other fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawn = {one.name: figure_file(one.draw(), ".svg") for section in sections for one in section.all_figures()}
    several = len(evaluation.designs) > 1
    title = (
        f"{len(evaluation.designs)} designs side by side" if several else f"{evaluation.designs[0].name}: the design"
    )
    foot = _foot(evaluation, command)
    notes = " ".join(sentence(note) for note in evaluation.notes)
    lead = sentences.lead(evaluation)
    html = page(title, sections, drawn, foot, notes, lead=lead, glossary=WORDS, figure_files=False)
    return sentences.in_its_words(evaluation, html)


def design_sections(evaluation: EvaluationData) -> list[Section]:
    """Return the sections of the page in order, without empty ones."""
    return [one for one in _sections(evaluation) if one.figures or one.listings or one.details]


def _foot(evaluation: EvaluationData, command: str) -> dict[str, str]:
    several = len(evaluation.designs) > 1
    digests = [f"{design.name}: {design.digest}" if several else design.digest for design in evaluation.designs]
    said = {
        "Digests" if several else "Digest of the design": "; ".join(digests),
        "Scenarios": f"{len(evaluation.scenarios):,}",
        "Trials": f"{evaluation.n_trials:,} in each scenario, of each design",
        "Seed": str(evaluation.seed),
        "Version": f"adhere {evaluation.version}",
        "To repeat it": command,
    }
    return {name: text for name, text in said.items() if text}


def _sections(evaluation: EvaluationData) -> Iterator[Section]:
    several, prose = len(evaluation.designs) > 1, section_prose(evaluation)
    first = evaluation.results[:: len(evaluation.designs)]
    yield _designs(evaluation)
    yield Section(
        "scenarios",
        listings=_filled(tables.scenarios_table(evaluation), tables.people_table(evaluation)),
        **prose["scenarios"],
    )
    if several:
        yield _differences(evaluation)
    yield Section(
        "errors",
        result=sentences.errors_result(evaluation),
        figures=[] if several else _drawn(errors_figure(evaluation)),
        headline=errors_figure(evaluation) if several else None,
        listings=_filled(tables.errors_table(evaluation)),
        **prose["errors"],
    )
    claims = [sentences.power_result(evaluation), sentences.wrong_claims_result(evaluation)]
    yield Section(
        "power",
        result=" ".join(filter(None, claims)),
        figures=_drawn(power_figure(evaluation)),
        listings=_filled(tables.power_table(evaluation)),
        **prose["power"],
    )
    yield Section(
        "conclusions",
        figures=[] if several else _drawn(status_figure(first)),
        listings=_filled(tables.conclusions_table(evaluation), tables.stops_table(evaluation)),
        **prose["conclusions"],
    )
    yield Section(
        "size",
        result=sentences.size_result(evaluation),
        figures=[] if several else _drawn(size_figure(first)),
        listings=[tables.size_table(evaluation)],
        **prose["size"],
    )
    yield Section(
        "allocation",
        result=sentences.benefit_result(evaluation),
        figures=[] if several else _drawn(allocation_figure(first)),
        listings=_filled(tables.allocation_table(evaluation), tables.benefit_table(evaluation)),
        **prose["allocation"],
    )
    estimates = tables.estimates_table(evaluation)
    if estimates.rows:
        yield Section(
            "estimates",
            result=sentences.estimates_result(evaluation),
            figures=[] if several else estimates_figures(first),
            listings=[estimates],
            **prose["estimates"],
        )
    yield Section("simulation", figures=[] if several else _drawn(convergence_figure(first)), **prose["simulation"])


def _designs(evaluation: EvaluationData) -> Section:
    several = len(evaluation.designs) > 1
    said = {design.name: list(in_words(design)) for design in evaluation.designs}
    shared = [one for one in said[evaluation.designs[0].name] if all(one in words for words in said.values())]
    own = [[name, one] for name, words in said.items() for one in words if one not in shared]
    listings = [
        Listing(f"{design.name}, field by field", ["field", "value"], design_fields(design), folded=True)
        for design in evaluation.designs
    ]
    if several:
        listings[:0] = [designs_table(evaluation), Listing("What differs, in words", ["design", "says"], own)]
    return Section(
        "design",
        "The designs" if several else "The design",
        question="What is planned?",
        result=sentences.designs_result(evaluation),
        uncertainty="",
        details=shared,
        listings=listings,
    )


def _differences(evaluation: EvaluationData) -> Section:
    reference = evaluation.designs[0].name
    return Section(
        "differences",
        "Side by side",
        question=f"What would change against {reference}?",
        result=f"Every design minus {reference}, with the same patients in every trial.",
        uncertainty="Differences are paired: they are known better than the two numbers they are made of.",
        details=[one for one in [sentences.fairness_result(evaluation)] if one],
        figures=_drawn(differences_figure(evaluation)),
        listings=_filled(differences_table(evaluation)),
    )


def _filled(*listings: Listing) -> list[Listing]:
    return [one for one in listings if one.rows]


def _drawn(*found: ReportFigure | None) -> Sequence[ReportFigure]:
    return [one for one in found if one is not None]
