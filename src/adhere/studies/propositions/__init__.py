"""Propositions 2 and 3: where Actual is best, where Comply is, and the expectations of the proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.studies.framework.study import Study
from adhere.studies.propositions import claims, figures
from adhere.studies.propositions.experiments import plan_experiments
from adhere.studies.propositions.facts import Facts
from adhere.studies.propositions.tables import make_tables

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def render(tables: Tables) -> Section:
    """The section on Propositions 2 and 3."""
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


STUDY = Study("propositions", "Propositions 2 and 3", plan_experiments, make_tables, render)
