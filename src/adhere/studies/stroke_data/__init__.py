"""The stroke data itself: who was allocated what, who took what, and who was alive after 14 days.

There is nothing to simulate: every figure is counted from the table that ships with the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.populations.stroke import SOURCE
from adhere.report.section import Section
from adhere.studies.framework.study import Study
from adhere.studies.stroke_data import claims, figures
from adhere.studies.stroke_data.facts import Facts
from adhere.studies.stroke_data.tables import make_tables

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def render(tables: Tables) -> Section:
    """The section on the counts, before any bandit sees them."""
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
        credits=SOURCE,
    )


STUDY = Study("stroke-data", "The stroke data itself", lambda quick: {}, lambda results: make_tables(), render)
