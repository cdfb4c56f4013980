"""Theorems 1 and 2: how regret grows with the number of patients, from a hundred to a million."""

from adhere.studies.framework.study import Study
from adhere.studies.regret_growth import claims, figures
from adhere.studies.regret_growth.experiments import EXPERIMENTS
from adhere.studies.regret_growth.tables import Facts, make_tables

STUDY = Study(
    "regret-growth",
    "Regret growth (Theorems 1 and 2)",
    EXPERIMENTS,
    make_tables,
    Facts,
    claims,
    figures,
    headline=figures.headline,
)
