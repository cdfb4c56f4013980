"""Figure 3: trials of twelve patients, each with a population of its own."""

from adhere.studies.framework.study import Study
from adhere.studies.small_trials import claims, figures
from adhere.studies.small_trials.experiments import EXPERIMENTS
from adhere.studies.small_trials.tables import Facts, make_tables

STUDY = Study("small-trials", "Small trials (Figure 3)", EXPERIMENTS, make_tables, Facts, claims, figures)
