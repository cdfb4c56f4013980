"""Figure 3: trials of twelve patients, each with a population of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.studies.framework.study import Study
from adhere.studies.small_trials import claims, figures
from adhere.studies.small_trials.experiments import plan_experiments
from adhere.studies.small_trials.facts import Facts
from adhere.studies.small_trials.tables import make_tables

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def render(tables: Tables) -> Section:
    """The section on Figure 3."""
    facts = Facts(tables)
    return Section(
        STUDY.name,
        STUDY.title,
        question=claims.question(facts),
        result=claims.result(facts),
        uncertainty=claims.uncertainty(facts),
        claims=claims.make_claims(facts),
        figures=figures.make_figures(facts),
        listings=figures.make_listings(facts),
    )


STUDY = Study("small-trials", "Small trials (Figure 3)", plan_experiments, make_tables, render)
