"""A live trial of a design, fed the patients of a simulated one at the same times, in plain Python."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any, NamedTuple

from adhere import Population, Trial
from adhere.design.design import Design
from adhere.design.planned_looks import planned_looks
from adhere.trial.log.look_view import LookView
from oracle.design_world import World

START = datetime(2026, 3, 1, tzinfo=UTC)


class Played(NamedTuple):
    """What a live trial came to."""

    arms: list[int]  # recommended, in order
    looks: list[LookView]
    probabilities: list[tuple[float, ...]]


def play_live(design: Design, population: Population, seed: int, run: int) -> Played:
    """Play a trial until a look recommends to stop, or to its end."""
    assert design.n_patients is not None
    trial, world = Trial.from_design(design, seed, run), World(design, seed, run)
    patients = population.patients(seed, run, design.n_patients)
    due: list[tuple[float, int, dict[str, Any]]] = []  # day, report, what it says
    arms, ids, shares, day, number, coming = [], [], [], 0.0, 0, 0.0
    while trial.recommended_stop is None and (number < design.n_patients or due):
        if number < design.n_patients and (not due or coming <= due[0][0]):
            day, stratum = coming, world.stratum(number)
            made = trial.recommend(stratum=stratum, at=START + timedelta(days=day))
            if trial.recommended_stop is not None:  # at a look by day, before this patient came
                break
            arm = trial.arms.index(made.arm)
            arms.append(arm)
            ids.append(made.id)
            shares.append(tuple(made.probabilities.values()))
            actual, reward = trial.arms[patients.actual[number, arm]], float(patients.reward[number, arm])
            for one in _reports(design, world, number, day, stratum, made.arm, actual, reward):
                heappush(due, one)
            number += 1
            if number < design.n_patients:
                coming = world.day(number, day)
        else:
            day, report, said = heappop(due)
            trial.report(ids[report // 2], at=START + timedelta(days=day), **said)
    if trial.recommended_stop is None and len(trial.looks) < planned_looks(design):
        trial.close("as planned", at=START + timedelta(days=day))
    return Played(arms, trial.looks, shares)


def _reports(
    design: Design, world: World, number: int, day: float, stratum: str | None, arm: str, actual: str, reward: float
) -> list[tuple[float, int, dict[str, Any]]]:
    """What is heard of a patient, and when."""
    impute, at = design.impute, day + world.delay(number, arm)
    later = math.inf if impute is None else day + impute.after_days
    told, taken, taken_at = reward, {"actual": actual}, at
    if world.is_missing(number, design.missing.outcome, 0, arm, stratum, reward):
        if impute is None or impute.reward is None:
            return []
        told, at, taken_at = float(impute.reward), later, later
    if world.is_missing(number, design.missing.taken, 1, arm, stratum, reward):
        taken = {} if impute is None or impute.actual is None else {"actual": impute.actual}
        taken_at = max(at, later)
    if taken and taken_at > at:
        return [(at, 2 * number, {"reward": told}), (taken_at, 2 * number + 1, dict(taken))]
    return [(at, 2 * number, {"reward": told, **taken})]
