"""The study's page: one HTML file, made of its tables alone."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.report.page import ClaimWords, page
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, Section
from adhere.report.style import SETTINGS, figure_file
from adhere.studies.coverage import figures, listings, sentences
from adhere.studies.coverage.facts import Facts
from adhere.studies.coverage.judgements import Judgement, width_text
from adhere.studies.coverage.tables import ADAPTIVE_DESIGN, FIXED_DESIGN
from adhere.studies.coverage.tally import FAILS, HOLDS, OPEN
from adhere.studies.framework.study import Tables

TITLE = "Coverage: do the intervals hold?"
WORDS = {
    "confidence sequence": "A set after every patient that holds the truth at all times at once, with the promised "
    "probability, however arms were allocated and whenever one stops.",
    "cover": "An interval covers if it holds what is true of the population.",
    "ever misses": "Does not hold the truth at some time of the trial; the sets are intersected over time, so that "
    "the last one tells.",
    "fixed-sample": "Meant for one look at a trial whose allocation did not depend on outcomes.",
    "mediated": "Given the arm taken, the outcome does not depend on the arm recommended.",
    "compliers": "Those who take what is recommended, whatever that is.",
    "weak instrument": "A recommendation that changes what next to nobody takes.",
    "floor": "Each arm keeps a least probability.",
    "false alarm": "A test rejects a hypothesis that is true.",
    "Monte Carlo interval": "Wilson's 95% interval for a share, given that so many trials were drawn and no more.",
}
_VERDICTS = {HOLDS: AGREES, OPEN: IN_PART, FAILS: DIFFERS}
_CLAIM_WORDS = ClaimWords("Bars and verdicts", "The bar", {AGREES: HOLDS, IN_PART: OPEN, DIFFERS: FAILS})


def coverage_page(tables: Tables, foot: Mapping[str, str], warning: str = "") -> str:
    """The page of the tables; `foot` describes the run."""
    import matplotlib

    facts = Facts(tables)
    sections = coverage_sections(facts)
    with matplotlib.rc_context(SETTINGS):
        drawn = {one.name: figure_file(one.draw(), ".svg") for section in sections for one in section.all_figures()}
    return page(
        TITLE, sections, drawn, foot, warning, lead=sentences.lead(facts), glossary=WORDS, figure_files=False,
        claim_words=_CLAIM_WORDS,
    )  # fmt: skip


def coverage_sections(facts: Facts) -> list[Section]:
    """The page in its order; what the tables do not hold is left out."""
    sections = []
    if len(facts.fixed):
        sections.append(
            Section(
                "fixed",
                "Fixed designs",
                question=sentences.fixed_question(facts),
                result=sentences.fixed_result(facts),
                uncertainty=sentences.FIXED_UNCERTAINTY,
                claims=[_claim(one) for one in facts.judged(FIXED_DESIGN)],
                figures=figures.fixed_figures(facts),
                details=sentences.fixed_details(facts),
            )
        )
    if len(facts.adaptive):
        sections.append(
            Section(
                "adaptive",
                "Adaptive designs",
                question=sentences.adaptive_question(facts),
                result=sentences.adaptive_result(facts),
                uncertainty=sentences.ADAPTIVE_UNCERTAINTY,
                claims=[_claim(one) for one in facts.judged(ADAPTIVE_DESIGN)],
                figures=figures.adaptive_figures(facts),
                details=sentences.adaptive_details(facts),
                listings=[listings.adaptive_listing(facts)],
            )
        )
    if len(facts.tests):
        claims = [
            _claim(one) for design in (FIXED_DESIGN, ADAPTIVE_DESIGN) for one in facts.judged(design, tests=True)
        ]
        sections.append(
            Section(
                "tests",
                "Tests",
                question="How often does a test reject what is true, and how often what is false?",
                result=sentences.tests_result(facts),
                uncertainty=sentences.TESTS_UNCERTAINTY,
                claims=claims,
                details=sentences.tests_details(facts),
                listings=listings.tests_listings(facts),
            )
        )
    if len(facts.weak):
        sections.append(
            Section(
                "weak",
                "Weak instruments",
                question="What do intervals for the effect on compliers say where 3% are compliers?",
                result=sentences.weak_result(facts),
                uncertainty="Two populations of 60% never-takers and 37% always-takers, who fare more or less alike.",
                details=sentences.weak_details(facts),
                listings=[listings.weak_listing(facts)],
            )
        )
    sections.append(
        Section(
            "numbers",
            "The populations, and every number",
            question="What is true of the populations, and what did every interval come to?",
            result=sentences.numbers_result(facts),
            uncertainty="The populations are ours; others may be harder.",
            listings=[listings.populations_listing(facts), *listings.all_listings(facts)],
        )
    )
    return sections


def _claim(one: Judgement) -> Claim:
    statement = f"{one.what} ({one.method})" if one.method else one.what
    widths = f"; median width {text}" if (text := width_text(one.widths)) != "–" else ""
    cells = "1 cell" if one.n_cells == 1 else f"all {one.n_cells} cells"
    return Claim(statement, f"{one.bar}, in {cells}", f"worst: {one.found}{widths}", _VERDICTS[one.verdict])
