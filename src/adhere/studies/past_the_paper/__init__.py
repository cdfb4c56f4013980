"""Past the paper: its Figures 1 and 3 with policies that it does not have."""

from adhere.populations.stroke import SOURCE
from adhere.studies.framework.study import Study
from adhere.studies.past_the_paper import claims, figures
from adhere.studies.past_the_paper.experiments import EXPERIMENTS
from adhere.studies.past_the_paper.tables import Facts, make_tables

STUDY = Study("past-the-paper", "Past the paper", EXPERIMENTS, make_tables, Facts, claims, figures, SOURCE)
