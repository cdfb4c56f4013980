"""Patients, drawn many at a time: one loop for each step, so that the compiler takes eight in one instruction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import no_inline
from adhere.compilation.hints import in_wide_vectors
from adhere.populations import PatientTables
from adhere.randomness import CHOOSE, PATIENT, step, steps_to, word_at

# How many patients are drawn together, and pass between two looks at whether to stop. All of it stays near the core.
BATCH_SIZE = 512


class Arms(NamedTuple):
    """How many arms there are. Known when a loop is compiled: a division by two is then a product."""

    number: int


class Patients(NamedTuple):
    """How patients are drawn (`populations.PatientTables`, as compiled code takes it)."""

    bounds: Any  # [run or 1, draw, cell] the first step beyond a cell
    actual: Any  # [arm, cell]
    reward: Any  # [arm, cell]

    @staticmethod
    def of(tables: PatientTables) -> Patients:
        """From a population's tables."""
        return Patients(steps_to(tables.cumulative), tables.actual.astype(np.uint32), tables.reward)


class Batch(NamedTuple):
    """Room for patients drawn together, and for the first random word of each decision about them."""

    words: Any
    steps: Any
    actual: Any  # [arm, patient]; unsigned, since compiled code need not ask whether it counts from the end
    reward: Any  # [arm, patient]
    baseline: Any  # the mean of a patient's rewards over the arms

    @staticmethod
    def of(n_arms: int) -> Batch:
        """Room for one thread."""
        return Batch(
            np.zeros(BATCH_SIZE, np.uint64),
            np.zeros(BATCH_SIZE, np.int64),
            np.zeros((n_arms, BATCH_SIZE), np.uint32),
            np.zeros((n_arms, BATCH_SIZE)),
            np.zeros(BATCH_SIZE),
        )


@no_inline
def draw_patients(arms: Any, patients: Any, bounds: Any, first: int, n: int, batch: Any, rng: Any) -> None:
    """Fill a batch with the next n patients."""
    in_wide_vectors()
    outer, middle = rng[0], rng[1]
    words, steps, baseline = batch.words, batch.steps, batch.baseline
    for i in range(n):
        words[i] = word_at(outer, middle, first + i, CHOOSE, 0)
        baseline[i] = 0.0
    for arm in range(arms.number):
        draw = arm if bounds.shape[0] > 1 else 0
        if arm == draw:
            for i in range(n):
                steps[i] = step(word_at(outer, middle, first + i, PATIENT, draw))
        actual, reward = batch.actual[arm], batch.reward[arm]
        find_cells(bounds[draw], patients.actual[arm], patients.reward[arm], n, steps, actual, reward)
        for i in range(n):
            baseline[i] += reward[i]
    for i in range(n):
        baseline[i] /= arms.number


@no_inline
def find_cells(bounds: Any, actuals: Any, rewards: Any, n: int, steps: Any, actual: Any, reward: Any) -> None:
    """What each of n patients takes and gains: what belongs to the cell in which its draw lands.

    Three boundaries in one pass: two arms and two rewards make four cells.
    """
    in_wide_vectors()
    last = bounds.size - 1
    for i in range(n):
        actual[i], reward[i] = actuals[0], rewards[0]
    for cell in range(0, last, 3):
        # Beyond the last cell there is a boundary that no draw reaches.
        next_1, next_2, next_3 = cell + 1, cell + 2, cell + 3
        next_2 = next_2 if next_2 < last else last
        next_3 = next_3 if next_3 < last else last
        bound_1, bound_2, bound_3 = bounds[cell], bounds[next_1], bounds[next_2]
        actual_1, actual_2, actual_3 = actuals[next_1], actuals[next_2], actuals[next_3]
        reward_1, reward_2, reward_3 = rewards[next_1], rewards[next_2], rewards[next_3]
        for i in range(n):
            its_actual, its_reward, draw = actual[i], reward[i], steps[i]
            its_actual, its_reward = (actual_1, reward_1) if draw >= bound_1 else (its_actual, its_reward)
            its_actual, its_reward = (actual_2, reward_2) if draw >= bound_2 else (its_actual, its_reward)
            its_actual, its_reward = (actual_3, reward_3) if draw >= bound_3 else (its_actual, its_reward)
            actual[i], reward[i] = its_actual, its_reward
