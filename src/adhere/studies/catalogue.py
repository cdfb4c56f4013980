"""All studies, in the order of the report."""

from __future__ import annotations

from adhere.errors import InputError, nearest
from adhere.studies import propositions, regret_growth, small_trials, stroke_data, stroke_trial, synthetic
from adhere.studies.study import Study

STUDIES: dict[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (stroke_trial, synthetic, small_trials, propositions, regret_growth, stroke_data)
}


def study(name: str) -> Study:
    """A study by its name."""
    if name not in STUDIES:
        raise InputError("study", name, nearest(name, list(STUDIES)))
    return STUDIES[name]
