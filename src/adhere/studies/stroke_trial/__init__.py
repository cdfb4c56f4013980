"""Figure 1 and the numbers of the text: surplus lives on the International Stroke Trial, aspirin and heparin."""

from adhere.populations.stroke import SOURCE
from adhere.studies.framework.study import Study
from adhere.studies.stroke_trial import claims, figures
from adhere.studies.stroke_trial.experiments import EXPERIMENTS
from adhere.studies.stroke_trial.tables import Facts, make_tables

STUDY = Study(
    "stroke-trial",
    "The stroke trial (Figure 1)",
    EXPERIMENTS,
    make_tables,
    Facts,
    claims,
    figures,
    SOURCE,
    figures.headline,
)
