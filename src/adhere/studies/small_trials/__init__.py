"""Figure 3: trials of twelve patients, each with a population of its own."""

from adhere.studies.framework.study import Study
from adhere.studies.small_trials import claims, figures
from adhere.studies.small_trials.experiments import plan_experiments
from adhere.studies.small_trials.facts import Facts
from adhere.studies.small_trials.tables import make_tables

STUDY = Study("small-trials", "Small trials (Figure 3)", plan_experiments, make_tables, Facts, claims, figures)
