"""The patients of a simulated trial: when they come, what they take and gain, and what is heard of it.

All random numbers are keyed by the patient's number, so that designs meet the same patients. Reports that are under
way lie in a heap, of which each lane has a column, in the order in which they will come: by day, then by patient.
"""

import math
from typing import Any, Final

import numpy as np

from adhere.compilation import inline, no_inline
from adhere.randomness import DELAY, MISSING, unit, word_at
from adhere.simulation.kernels.patients import CellsInMemory, draw_patient

UNKNOWN: Final = -9  # in place of what was taken, where it is never reported

# Which draw of a purpose is for what.
_DELAY_DRAW: Final = 0
_ARRIVAL_DRAW: Final = 1
_STRATUM_DRAW: Final = 2
_OUTCOME_DRAW: Final = 0
_TAKEN_DRAW: Final = 1
_UNIFORM: Final = 1.0
_EXPONENTIAL: Final = 2.0
_STEPS: Final = 2.0**20  # in 1


@inline
def quantize(number: float) -> float:
    """A number that came from logarithms, which on a GPU may differ in their last bit, to the nearest 2⁻²⁰."""
    return math.floor(number * _STEPS + 0.5) / _STEPS


@inline
def uniform_at(rng: Any, patient: Any, purpose: Any, draw: int) -> float:
    """A patient's random number."""
    return unit(word_at(rng[0], rng[1], patient, purpose, draw))


@inline
def waiting(u: float, mean: float) -> float:
    """An exponential number of days."""
    return quantize(-math.log(1.0 - u) * mean)


@inline
def arrival_day(conditions: Any, patient: Any, day_before: float, rng: Any) -> Any:
    """The day on which a patient comes."""
    if conditions.days.size > 0:
        return conditions.days[patient]
    if patient == 0:
        return 0.0
    return day_before + waiting(uniform_at(rng, patient, DELAY, _ARRIVAL_DRAW), 1.0 / conditions.per_day)


@inline
def outcome_delay(conditions: Any, patient: Any, chosen: int, rng: Any) -> Any:
    """After how many days the outcome is reported."""
    mean = conditions.delay[chosen]
    if conditions.distribution == _UNIFORM:
        mean *= 2.0 * uniform_at(rng, patient, DELAY, _DELAY_DRAW)
    elif conditions.distribution == _EXPONENTIAL:
        mean = waiting(uniform_at(rng, patient, DELAY, _DELAY_DRAW), mean)
    return mean


@inline
def stratum_of(conditions: Any, patient: Any, rng: Any) -> Any:
    """The stratum, all equally likely; 0 where there are none."""
    return np.int64(conditions.n_strata * uniform_at(rng, patient, DELAY, _STRATUM_DRAW))


@inline
def is_missing(rates: Any, draw: int, patient: Any, stratum: Any, chosen: int, reward: float, rng: Any) -> Any:
    """Whether a part of the report never comes."""
    rate = rates[stratum, chosen, 1 if reward >= 0.5 else 0]
    return rate > 0.0 and uniform_at(rng, patient, MISSING, draw) < rate


@no_inline
def next_patient(patients: Any, row: Any, n_arms: int, patient: Any, chosen: int, rng: Any) -> Any:
    """What a patient takes and gains, and the mean over arms of what it would gain: as `simulate` draws them."""
    search, bounds = CellsInMemory(0), patients.bounds[row]
    actual, reward, baseline = draw_patient(search, n_arms, patients, bounds, patient, chosen, rng)
    return np.int64(actual), reward, baseline


@no_inline
def schedule_reports(
    conditions: Any, workspace: Any, lane: Any, n_pending: Any, patient: Any, stratum: Any, chosen: int, actual: Any,
    reward: float, day: float, rng: Any,
) -> Any:  # fmt: skip
    """Send off what will be heard of a patient; returns how many reports are under way.

    The outcome is report 2 · patient. What is assumed to have been taken is one of its own, 2 · patient + 1, if it
    comes after the outcome. `workspace.heard` keeps what will be known of the arm taken,
    and whether it comes later.
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
    """Put a report into a heap of n."""
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
    """Take the first report out of a heap of n, and return it."""
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
    """Whether a report comes before another in the heap."""
    due = workspace.due[place, lane]
    return day < due or (day == due and report < workspace.reports[place, lane])
