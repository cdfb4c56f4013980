"""Figure 2 and Example 1: all policies on rich and poor patients, and on defiers."""

from adhere.studies.framework.study import Study
from adhere.studies.synthetic import claims, figures
from adhere.studies.synthetic.experiments import EXPERIMENTS
from adhere.studies.synthetic.tables import Facts, make_tables

STUDY = Study(
    "synthetic",
    "Rich and poor (Figure 2) and defiers (Example 1)",
    EXPERIMENTS,
    make_tables,
    Facts,
    claims,
    figures,
    headline=figures.headline,
)
