"""Propositions 2 and 3: where Actual is best, where Comply is, and the expectations of the proofs."""

from adhere.studies.framework.study import Study
from adhere.studies.propositions import claims, figures
from adhere.studies.propositions.experiments import EXPERIMENTS
from adhere.studies.propositions.tables import Facts, make_tables

STUDY = Study("propositions", "Propositions 2 and 3", EXPERIMENTS, make_tables, Facts, claims, figures)
