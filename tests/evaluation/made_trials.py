"""Trials made by hand for tests: every patient is known, and so is what the arrays of a block should say."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from adhere.evaluation.outcomes import TrialOutcomes
from adhere.looks.judge import ACTIVE, EQUIVALENT, FUTILE, GO_ON, INFERIOR, SUPERIOR


class Patient(NamedTuple):
    """One patient: what was recommended and taken, the outcome, what is known of both, and what arms would bring."""

    chosen: int
    taken: int
    reward: float
    outcome_known: bool = True
    taken_known: bool = True
    would_gain: tuple[float, ...] = ()


class MadeTrial(NamedTuple):
    """One trial: its patients in their order, what became of the arms and when, and when it ended."""

    patients: list[Patient]
    decision: int
    selected: int
    status: list[int]
    status_at: list[int]
    n_looks: int
    days: float
    estimate: list[list[float]]
    covers: list[list[float]]


def made_trial(draw: random.Random, k: int, control: int | None, n_looks: int, max_patients: int) -> MadeTrial:
    """A trial at random, of any length, that follows the rules for statuses and decisions."""
    patients = []
    for _ in range(draw.randint(2, max_patients)):
        chosen = draw.randrange(k)
        taken = chosen if draw.random() < 0.7 else draw.randrange(k)
        gains = tuple(float(draw.random() < 0.3 + 0.1 * arm) for arm in range(k))
        known = draw.random() < 0.9, draw.random() < 0.9
        patients.append(Patient(chosen, taken, gains[taken], *known, gains))
    status, status_at = [ACTIVE] * k, [-1] * k
    decision, selected, look = GO_ON, -1, draw.randrange(n_looks)
    kind = draw.choice([GO_ON, SUPERIOR, EQUIVALENT, INFERIOR, FUTILE])
    others = [arm for arm in range(k) if arm != control]
    if draw.random() < 0.3 and k > 2:  # one is dropped before
        dropped = others.pop(draw.randrange(len(others)))
        status[dropped], status_at[dropped] = INFERIOR, draw.randrange(look + 1)
    if kind == SUPERIOR:
        selected = draw.choice(others)
        decision, status[selected], status_at[selected] = SUPERIOR, SUPERIOR, look
    elif kind != GO_ON and (control is not None or kind == EQUIVALENT or k == 2):
        decision = kind
        for arm in others if control is not None or kind == EQUIVALENT else others[1:]:
            status[arm], status_at[arm] = kind, look
    pairs = [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(k)]
    covers = [[float(draw.random() < 0.9), float(draw.random() < 0.9)] for _ in range(k)]
    if draw.random() < 0.2:
        pairs[-1][1] = covers[-1][1] = float("nan")
    n_done = n_looks if decision == GO_ON else look + 1
    if n_done == n_looks and draw.random() < 0.5:  # too many outcomes are missing for the look before the end
        n_done -= 1
    return MadeTrial(patients, decision, selected, status, status_at, n_done, draw.uniform(1, 99), pairs, covers)


def as_outcomes(trials: list[MadeTrial], k: int, grid: tuple[int, ...]) -> TrialOutcomes:
    """The same as the arrays that a block of simulated trials leaves behind."""
    block = TrialOutcomes.zeros(len(trials), k, len(grid))
    for run, trial in enumerate(trials):
        block.decision[run], block.superior_arm[run], block.n_looks[run] = (
            trial.decision,
            trial.selected,
            trial.n_looks,
        )
        block.n_patients[run], block.days[run] = len(trial.patients), trial.days
        block.status[run], block.status_at[run] = trial.status, trial.status_at
        block.estimate[run], block.covers[run] = np.array(trial.estimate), np.array(trial.covers)
        for number, one in enumerate(trial.patients, start=1):
            block.chosen[run, one.chosen] += 1
            block.taken[run, one.taken] += 1
            block.reward[run] += one.reward
            block.baseline[run] += sum(one.would_gain) / k
            block.over_time[run, [number <= point for point in grid], one.chosen] += 1
            if one.outcome_known:
                cell = run, one.chosen, one.taken if one.taken_known else k
                block.n[cell] += 1
                block.sums[cell] += one.reward
                block.squares[cell] += one.reward**2
    return block
