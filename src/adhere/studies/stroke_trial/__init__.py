"""Figure 1 and the numbers of the text: surplus lives on the International Stroke Trial, aspirin and heparin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.populations.stroke import SOURCE
from adhere.report.section import Section
from adhere.studies.framework.study import Study
from adhere.studies.stroke_trial import claims, figures
from adhere.studies.stroke_trial.experiments import plan_experiments
from adhere.studies.stroke_trial.facts import Facts
from adhere.studies.stroke_trial.tables import make_tables

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def render(tables: Tables) -> Section:
    """The section on Figure 1 and the text around it."""
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
        credits=SOURCE,
    )


STUDY = Study("stroke-trial", "The stroke trial (Figure 1)", plan_experiments, make_tables, render)
