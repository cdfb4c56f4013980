"""The patients of a simulated trial: when they come, what they take and gain, and what is heard of it.

All random numbers are keyed by the patient's number, so that designs meet the same patients.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from adhere.compilation import inline, no_inline
from adhere.evaluation.kernels.quantize import in_steps
from adhere.evaluation.kernels.reports import push_report
from adhere.randomness import DELAY, MISSING, PATIENT, step, unit, word_at

UNKNOWN: Final = -9  # in place of what was taken, where it is never reported

# Which draw of a purpose is for what.
_DELAY_DRAW: Final = 0
_ARRIVAL_DRAW: Final = 1
_STRATUM_DRAW: Final = 2
_OUTCOME_DRAW: Final = 0
_TAKEN_DRAW: Final = 1
_UNIFORM: Final = 1.0
_EXPONENTIAL: Final = 2.0


@inline
def uniform_at(rng: Any, patient: Any, purpose: Any, draw: int) -> float:
    """A patient's random number."""
    return unit(word_at(rng[0], rng[1], patient, purpose, draw))


@inline
def waiting(u: float, mean: float) -> float:
    """An exponential number of days."""
    return in_steps(-math.log(1.0 - u) * mean)


@inline
def arrival_day(setting: Any, patient: Any, day_before: float, rng: Any) -> Any:
    """The day on which a patient comes."""
    if setting.days.size > 0:
        return setting.days[patient]
    if patient == 0:
        return 0.0
    return day_before + waiting(uniform_at(rng, patient, DELAY, _ARRIVAL_DRAW), 1.0 / setting.per_day)


@inline
def outcome_delay(setting: Any, patient: Any, chosen: int, rng: Any) -> Any:
    """After how many days the outcome is reported."""
    mean = setting.delay[chosen]
    if setting.distribution == _UNIFORM:
        mean *= 2.0 * uniform_at(rng, patient, DELAY, _DELAY_DRAW)
    elif setting.distribution == _EXPONENTIAL:
        mean = waiting(uniform_at(rng, patient, DELAY, _DELAY_DRAW), mean)
    return mean


@inline
def stratum_of(setting: Any, patient: Any, rng: Any) -> Any:
    """The stratum, all equally likely; 0 where there are none."""
    return np.int64(setting.n_strata * uniform_at(rng, patient, DELAY, _STRATUM_DRAW))


@inline
def is_missing(rates: Any, draw: int, patient: Any, stratum: Any, chosen: int, reward: float, rng: Any) -> Any:
    """Whether a part of the report never comes."""
    rate = rates[stratum, chosen, 1 if reward >= 0.5 else 0]
    return rate > 0.0 and uniform_at(rng, patient, MISSING, draw) < rate


@no_inline
def draw_patient(patients: Any, row: Any, n_arms: int, patient: Any, chosen: int, rng: Any) -> Any:
    """What a patient takes and gains, and the mean over arms of what it would gain: as `simulate` draws them."""
    actual, reward, total, cell = np.int64(0), 0.0, 0.0, np.int64(0)
    for arm in range(n_arms):
        if arm < patients.bounds.shape[1]:
            cell = _cell_of(patients.bounds, row, arm, step(word_at(rng[0], rng[1], patient, PATIENT, arm)))
        gained = patients.reward[arm, cell]
        total += gained
        if arm == chosen:
            actual, reward = np.int64(patients.actual[arm, cell]), gained
    return actual, reward, total / n_arms


@inline
def _cell_of(bounds: Any, row: Any, draw: int, drawn: Any) -> Any:
    """The cell in which a draw lands: so many boundaries lie at or below it. Cells are a power of two."""
    cell, half = np.int64(0), np.int64(bounds.shape[2] // 2)
    while half > 0:
        cell += half if drawn >= bounds[row, draw, cell + half - 1] else 0
        half //= 2
    return cell


@no_inline
def schedule_reports(
    setting: Any, room: Any, lane: Any, n_pending: Any, patient: Any, stratum: Any, chosen: int, actual: Any,
    reward: float, day: float, rng: Any,
) -> Any:  # fmt: skip
    """Send off what will be heard of a patient; returns how many reports are under way.

    The outcome is report 2 · patient. What is assumed to have been taken is one of its own, 2 · patient + 1, if it
    comes after the outcome. `room.heard` keeps both what will be known of the arm taken and whether it comes later.
    """
    due, reported, taken, comes_later = day + outcome_delay(setting, patient, chosen, rng), reward, actual, 0
    if is_missing(setting.missing_outcome, _OUTCOME_DRAW, patient, stratum, chosen, reward, rng):
        if math.isnan(setting.impute_reward):
            return n_pending
        due, reported = day + setting.impute_after, setting.impute_reward
    if is_missing(setting.missing_taken, _TAKEN_DRAW, patient, stratum, chosen, reward, rng):
        taken = np.int64(UNKNOWN)
        if not math.isnan(setting.impute_taken):
            taken = np.int64(setting.impute_taken)
            comes_later = 1 if day + setting.impute_after > due else 0
    room.rewards[patient, lane] = reported
    room.heard[patient, lane] = 2 * (taken - UNKNOWN) + comes_later
    push_report(room, lane, n_pending, due, 2 * patient)
    if comes_later == 1:
        push_report(room, lane, n_pending + 1, day + setting.impute_after, 2 * patient + 1)
    return n_pending + 1 + comes_later
