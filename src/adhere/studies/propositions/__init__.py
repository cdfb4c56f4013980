"""Propositions 2 and 3: where Actual is best, where Comply is, and the expectations of the proofs."""

from adhere.studies.framework.study import Study
from adhere.studies.propositions import claims, figures
from adhere.studies.propositions.experiments import plan_experiments
from adhere.studies.propositions.facts import Facts
from adhere.studies.propositions.tables import make_tables

STUDY = Study("propositions", "Propositions 2 and 3", plan_experiments, make_tables, Facts, claims, figures)
