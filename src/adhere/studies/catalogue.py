"""All studies, in the order of the report."""

from __future__ import annotations

from typing import Any

from adhere.errors import InputError, nearest
from adhere.studies import (
    past_the_paper,
    propositions,
    regret_growth,
    small_trials,
    stroke_data,
    stroke_trial,
    synthetic,
)
from adhere.studies.framework.study import Study

_FOLDERS: Any = (stroke_trial, synthetic, small_trials, propositions, regret_growth, stroke_data, past_the_paper)
STUDIES: dict[str, Study[Any]] = {folder.STUDY.name: folder.STUDY for folder in _FOLDERS}


def study(name: str) -> Study[Any]:
    """A study by its name."""
    if name not in STUDIES:
        raise InputError("study", name, nearest(name, list(STUDIES)))
    return STUDIES[name]
