"""Figure 2 and Example 1: all policies on rich and poor patients, and on defiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.studies.framework.study import Study
from adhere.studies.synthetic import claims, figures
from adhere.studies.synthetic.experiments import plan_experiments
from adhere.studies.synthetic.facts import Facts
from adhere.studies.synthetic.tables import make_tables

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def render(tables: Tables) -> Section:
    """The section on Figure 2 and Example 1."""
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


STUDY = Study("synthetic", "Rich and poor (Figure 2) and defiers (Example 1)", plan_experiments, make_tables, render)
