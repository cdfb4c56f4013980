"""The studies of the paper, in the order of the report."""

from adhere.errors import InputError, nearest
from adhere.studies.framework.study import Study
from adhere.studies.past_the_paper.study import STUDY as PAST_THE_PAPER
from adhere.studies.propositions.study import STUDY as PROPOSITIONS
from adhere.studies.regret_growth.study import STUDY as REGRET_GROWTH
from adhere.studies.small_trials.study import STUDY as SMALL_TRIALS
from adhere.studies.stroke_data.study import STUDY as STROKE_DATA
from adhere.studies.stroke_trial.study import STUDY as STROKE_TRIAL
from adhere.studies.synthetic.study import STUDY as SYNTHETIC

_IN_ORDER = (STROKE_TRIAL, SYNTHETIC, SMALL_TRIALS, PROPOSITIONS, REGRET_GROWTH, STROKE_DATA, PAST_THE_PAPER)
STUDIES = {study.name: study for study in _IN_ORDER}


def study(name: str) -> Study:
    """Return a study by its name."""
    if name not in STUDIES:
        raise InputError("study", name, nearest(name, list(STUDIES)))
    return STUDIES[name]
