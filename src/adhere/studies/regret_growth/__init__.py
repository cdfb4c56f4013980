"""Theorems 1 and 2: how regret grows with the number of patients, from a hundred to a million."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.studies.framework.study import Study
from adhere.studies.regret_growth import claims, figures
from adhere.studies.regret_growth.experiments import plan_experiments
from adhere.studies.regret_growth.facts import Facts
from adhere.studies.regret_growth.tables import make_tables

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def render(tables: Tables) -> Section:
    """The section on Theorems 1 and 2."""
    facts = Facts(tables)
    return Section(
        STUDY.name,
        STUDY.title,
        question=claims.QUESTION,
        result=claims.result(facts),
        uncertainty=claims.uncertainty(facts),
        claims=claims.make_claims(facts),
        figures=figures.make_figures(facts),
        listings=figures.make_listings(facts),
    )


STUDY = Study("regret-growth", "Regret growth (Theorems 1 and 2)", plan_experiments, make_tables, render)
