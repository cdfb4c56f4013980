"""Patients of a simulated trial: arrival, treatment taken, reward, and reports.

All random numbers are keyed by the patient's index, so that all designs have the same patients. Pending reports are
in a heap, with a column for each lane, ordered by day and then by patient.
"""

import math
from typing import Any, Final

import numpy as np

from adhere.compilation import inline, no_inline
from adhere.randomness import DELAY, MISSING, unit, word_at
from adhere.simulation.kernels.patients import CellsInMemory, draw_patient

UNKNOWN: Final = -9  # code for a treatment taken that is never reported

# Indices of the draws of each purpose.
_DELAY_DRAW: Final = 0
_ARRIVAL_DRAW: Final = 1
_STRATUM_DRAW: Final = 2
_OUTCOME_DRAW: Final = 0
_TAKEN_DRAW: Final = 1
_UNIFORM: Final = 1.0
_EXPONENTIAL: Final = 2.0
_STEPS: Final = 2.0**20  # steps per unit


@inline
def quantize(number: float) -> float:
    """Round to the nearest 2⁻²⁰, because logarithms on a GPU may differ in the last bit."""
    return math.floor(number * _STEPS + 0.5) / _STEPS


@inline
def uniform_at(rng: Any, patient: Any, purpose: Any, draw: int) -> float:
    """Return a patient's uniform random number for a purpose."""
    return unit(word_at(rng[0], rng[1], patient, purpose, draw))


@inline
def waiting(u: float, mean: float) -> float:
    """Return an exponentially distributed number of days with this mean, given a uniform number."""
    return quantize(-math.log(1.0 - u) * mean)


@inline
def arrival_day(conditions: Any, patient: Any, day_before: float, rng: Any) -> Any:
    """Return the day on which a patient arrives."""
    if conditions.days.size > 0:
        return conditions.days[patient]
    if patient == 0:
        return 0.0
    return day_before + waiting(uniform_at(rng, patient, DELAY, _ARRIVAL_DRAW), 1.0 / conditions.per_day)


@inline
def outcome_delay(conditions: Any, patient: Any, chosen: int, rng: Any) -> Any:
    """Return the number of days until the outcome is reported."""
    mean = conditions.delay[chosen]
    if conditions.distribution == _UNIFORM:
        mean *= 2.0 * uniform_at(rng, patient, DELAY, _DELAY_DRAW)
    elif conditions.distribution == _EXPONENTIAL:
        mean = waiting(uniform_at(rng, patient, DELAY, _DELAY_DRAW), mean)
    return mean


@inline
def stratum_of(conditions: Any, patient: Any, rng: Any) -> Any:
    """Return a patient's stratum, all equally likely; 0 if there are none."""
    return np.int64(conditions.n_strata * uniform_at(rng, patient, DELAY, _STRATUM_DRAW))


@inline
def is_missing(rates: Any, draw: int, patient: Any, stratum: Any, chosen: int, reward: float, rng: Any) -> Any:
    """Return whether one part of a patient's report never arrives."""
    rate = rates[stratum, chosen, 1 if reward >= 0.5 else 0]
    return rate > 0.0 and uniform_at(rng, patient, MISSING, draw) < rate


@no_inline
def next_patient(patients: Any, row: Any, n_arms: int, patient: Any, chosen: int, rng: Any) -> Any:
    """Draw a patient's treatment taken, reward and mean reward over arms, in the same way as `adhere.simulate`."""
    search, bounds = CellsInMemory(0), patients.bounds[row]
    actual, reward, baseline = draw_patient(search, n_arms, patients, bounds, patient, chosen, rng)
    return np.int64(actual), reward, baseline


@no_inline
def schedule_reports(
    conditions: Any, workspace: Any, lane: Any, n_pending: Any, patient: Any, stratum: Any, chosen: int, actual: Any,
    reward: float, day: float, rng: Any,
) -> Any:  # fmt: skip
    """Schedule the reports of a patient, and return the number of pending reports.

    The outcome is report 2 · patient. An imputed treatment taken is a separate report, 2 · patient + 1, if it comes
    after the outcome. `workspace.heard` stores the arm taken that will be known, and whether it comes later.
    """
    due, reported, taken, comes_later = day + outcome_delay(conditions, patient, chosen, rng), reward, actual, 0
    if is_missing(conditions.missing_outcome, _OUTCOME_DRAW, patient, stratum, chosen, reward, rng):
        if math.isnan(conditions.impute_reward):
            return n_pending
        due, reported = day + conditions.impute_after, conditions.impute_reward
    if is_missing(conditions.missing_taken, _TAKEN_DRAW, patient, stratum, chosen, reward, rng):
        taken = np.int64(UNKNOWN)
        if not math.isnan(conditions.impute_taken):
            taken = np.int64(conditions.impute_taken)
            comes_later = 1 if day + conditions.impute_after > due else 0
    workspace.rewards[patient, lane] = reported
    workspace.heard[patient, lane] = 2 * (taken - UNKNOWN) + comes_later
    push_report(workspace, lane, n_pending, due, 2 * patient)
    if comes_later == 1:
        push_report(workspace, lane, n_pending + 1, day + conditions.impute_after, 2 * patient + 1)
    return n_pending + 1 + comes_later


@no_inline
def push_report(workspace: Any, lane: Any, n_pending: Any, day: float, report: Any) -> None:
    """Push a report onto a heap of `n_pending` reports."""
    place = np.int64(n_pending)
    while place > 0 and _comes_before(day, report, workspace, (place - 1) // 2, lane):
        above = (place - 1) // 2
        workspace.due[place, lane], workspace.reports[place, lane] = (
            workspace.due[above, lane],
            workspace.reports[above, lane],
        )
        place = above
    workspace.due[place, lane], workspace.reports[place, lane] = day, report


@no_inline
def pop_report(workspace: Any, lane: Any, n_pending: Any) -> Any:
    """Pop the first report from a heap of `n_pending` reports, and return it."""
    first, last = np.int64(workspace.reports[0, lane]), np.int64(n_pending - 1)
    day, report = workspace.due[last, lane], np.int64(workspace.reports[last, lane])
    place, below = np.int64(0), np.int64(1)
    while below < last:
        if below + 1 < last:
            other = np.int64(workspace.reports[below + 1, lane])
            below += 1 if _comes_before(workspace.due[below + 1, lane], other, workspace, below, lane) else 0
        if _comes_before(day, report, workspace, below, lane):
            break
        workspace.due[place, lane], workspace.reports[place, lane] = (
            workspace.due[below, lane],
            workspace.reports[below, lane],
        )
        place, below = below, 2 * below + 1
    workspace.due[place, lane], workspace.reports[place, lane] = day, report
    return first


@inline
def _comes_before(day: float, report: Any, workspace: Any, place: Any, lane: Any) -> Any:
    """Return whether a report comes before another one in the heap."""
    due = workspace.due[place, lane]
    return day < due or (day == due and report < workspace.reports[place, lane])
