"""The form without a field that was refused, so that the other fields can still be checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from adhere.service.pages.forms.design_form import THRESHOLDS
from adhere.service.pages.forms.form_reader import FormReader

_STOPPING: Final = tuple(f"stopping.{name}" for name in (*THRESHOLDS, "margin", "alpha", "boundary", "mirrored"))
_STAND_INS: Final = {"name": "name", "arms": "first\nsecond", "policy": "uniform"}  # for what a design must have
# Fields that cannot be judged without another one, and are left out with it.
_ALONG: Final = {
    "arms": ("control",),
    "reward_values": ("outcome_words", "impute.reward"),
    "impute.after_days": ("impute.reward", "impute.took_nothing"),
    "impute.reward": ("impute.after_days", "impute.took_nothing"),
    "looks.numbers": ("looks", "update"),
    "stopping.by": _STOPPING,
    "stopping.margin": ("stopping.equivalence", "stopping.futility"),
    "stopping.superiority": ("stopping.mirrored",),
    "burn-in.patients": ("strata",),
}


def without(form: Mapping[str, str], place: str) -> dict[str, str]:
    r"""The form without a field and without those that depend on it.

    >>> without({"arms": "walk", "control": "walk", "n_patients": "40"}, "arms")
    {'arms': 'first\nsecond', 'n_patients': '40'}
    """
    left = {name: typed for name, typed in form.items() if name not in (place, *_ALONG.get(place, ()))}
    if place in ("n_patients", "looks.numbers"):  # of which the number of looks follows
        several = [f"stopping.{name}" for name in THRESHOLDS]
        left = {name: typed for name, typed in left.items() if name not in several or len(typed.split()) < 2}
    if place.startswith("stopping.") and not any(left.get(name) for name in _STOPPING):
        left.pop("stopping.by", None)
    if place == "n_patients":
        left[place] = str(_enough_patients(form))
    elif place in _STAND_INS:
        left[place] = _STAND_INS[place]
    return {name: left[name] for name in form if name in left} | left


def _enough_patients(form: Mapping[str, str]) -> int:
    """A number of patients that fits the looks and the burn-in."""
    reader = FormReader(form)
    typed = [*reader.numbers("looks.numbers", "whole"), reader.number("burn-in.patients", "whole") or 0]
    return 10 * int(max(100, *typed))
