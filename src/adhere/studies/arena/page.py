"""The arena's page: one HTML file, made of its tables alone."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.report.page import GLOSSARY, page
from adhere.report.section import ReportFigure, Section
from adhere.report.style import SETTINGS, figure_file
from adhere.studies.arena import figures, listings, sentences
from adhere.studies.arena.facts import Facts
from adhere.studies.arena.families import MIN_BEST_SURPLUS
from adhere.studies.framework.study import Tables

TITLE = "The arena: every policy on the same patients"
_OWN_WORDS = {
    "share of the best possible surplus": "Surplus divided by that of always recommending the best arm: 1 is the "
    "best, 0 is uniform randomisation, below 0 is worse than that.",
    "family": "Populations drawn from one law by a published seed.",
    "mediated": "Given the arm taken, the reward does not depend on the arm recommended: nothing is confounded.",
    "odds": "What mediated-thompson believes beforehand, mediated to confounded; ∞ never doubts.",
    "worst 5%": "The mean over the twentieth of a family's populations on which a policy does worst.",
    "frontier": "The policies that no other beats both where rewards are mediated and where they are not.",
    "regret against the best treatment": "Reward lost against everybody taking the arm that is best for all.",
    "compliers": "Patients who take what is recommended; their regret counts what they lose.",
    "95% interval": "Student's interval of the mean over the populations of a family.",
}
_SHARED_WORDS = ("arm", "protocol", "Chosen", "Actual", "Comply", "surplus", "regret", "policy", "population", "run")
WORDS = {**{word: GLOSSARY[word] for word in _SHARED_WORDS}, **_OWN_WORDS}


def arena_page(tables: Tables, foot: Mapping[str, str], warning: str = "") -> str:
    """The page of the tables `results`, `curves`, `frontier` and `families`; `foot` describes the run."""
    import matplotlib

    facts = Facts(tables)
    sections = arena_sections(facts)
    with matplotlib.rc_context(SETTINGS):
        drawn = {one.name: figure_file(one.draw(), ".svg") for section in sections for one in section.all_figures()}
    return page(TITLE, sections, drawn, foot, warning, lead=sentences.lead(facts), glossary=WORDS, figure_files=False)


def arena_sections(facts: Facts) -> list[Section]:
    """The page in its order; what the tables do not hold is left out."""
    return [
        Section(
            "standings",
            f"Every policy on every family, {facts.horizon:,} patients",
            question=sentences.main_question(facts),
            result=sentences.main_result(facts),
            uncertainty=sentences.main_uncertainty(facts),
            details=sentences.details(facts),
            figures=[one for one in (figures.heat_map_figure(facts), figures.worst_figure(facts)) if one],
            listings=[one for one in [listings.worst_listing(facts)] if one.rows],
        ),
        *_frontier(facts),
        *_growth(facts),
        Section(
            "regrets",
            "Three regrets, side by side",
            question="How much is lost against the best recommendation, the best treatment, and by compliers?",
            result=sentences.regrets_result(facts),
            uncertainty="Means over families hide where a policy loses; the figure and the tables show them apart.",
            figures=[figures.regrets_figure(facts)],
        ),
        *_optimum(facts),
        Section(
            "time",
            "Time a decision",
            question="How long does a decision take?",
            result=sentences.time_result(facts),
            uncertainty="Times are of the machine described at the foot; other work on it makes them longer.",
            figures=[figures.time_figure(facts)],
        ),
        Section(
            "families",
            "The populations, and every number",
            question="On which populations was this?",
            result=sentences.families_result(facts),
            uncertainty=(
                "The families are ours; another choice of families has other averages. Populations in which no "
                f"policy could gain {MIN_BEST_SURPLUS:g} a patient are drawn again, but for uniform-other."
            ),
            listings=[
                listings.families_listing(facts),
                listings.policies_listing(facts),
                *listings.left_out_listing(facts),
                *listings.family_listings(facts),
            ],
        ),
    ]


def _frontier(facts: Facts) -> list[Section]:
    if facts.frontier.is_empty():
        return []
    return [
        Section(
            "frontier",
            "The frontier",
            question=sentences.frontier_question(facts),
            result=sentences.frontier_result(facts),
            uncertainty=sentences.frontier_uncertainty(facts),
            figures=figures.frontier_figures(facts),
        )
    ]


def _growth(facts: Facts) -> list[Section]:
    drawn: list[ReportFigure] = figures.curve_figures(facts)
    if not drawn:
        return []
    return [
        Section(
            "growth",
            "Regret as trials grow",
            question=sentences.growth_question(facts),
            result=sentences.growth_result(facts),
            uncertainty=sentences.growth_uncertainty(facts),
            details=sentences.growth_details(facts),
            figures=drawn,
        )
    ]


def _optimum(facts: Facts) -> list[Section]:
    drawn = figures.optimum_figure(facts)
    if drawn is None:
        return []
    return [
        Section(
            "optimum",
            "Against the optimum",
            question="How much of what an optimal policy would gain do these gain, where that can be computed?",
            result=sentences.optimum_result(facts),
            uncertainty="The optimum is what the optimal policy gained on the same patients, or as computed where it "
            "did not play. Intervals are over populations, whose own differences are most of them.",
            figures=[drawn],
        )
    ]
