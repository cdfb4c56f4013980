"""Patients, drawn many at a time: one loop for each step, so that the compiler takes eight in one instruction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import generic, implements, inline
from adhere.compilation.hints import in_wide_vectors
from adhere.populations import PatientTables
from adhere.randomness import CHOOSE, PATIENT, step, steps_to, word_at
from adhere.simulation.kernels.cell_search import (
    FEW_CELLS,
    find_among_few,
    find_among_many,
    guide_for,
    look_up,
    look_up_among_few,
)

# How many patients are drawn together, and pass between two looks at whether to stop. All of it stays near the core.
BATCH_SIZE = 512


class Arms(NamedTuple):
    """How many arms there are. Known when a loop is compiled for few: a division by two is then a product."""

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
    cells: Any  # in which the draws landed
    actual: Any  # [arm, patient]; unsigned, since compiled code need not ask whether it counts from the end
    reward: Any  # [arm, patient]
    baseline: Any  # the mean of a patient's rewards over the arms
    guide: Any  # [draw, entry] to the cells, where there are many

    @staticmethod
    def of(n_arms: int, bounds: Any) -> Batch:
        """Room for one thread."""
        return Batch(
            np.zeros(BATCH_SIZE, np.uint64),
            np.zeros(BATCH_SIZE, np.int64),
            np.zeros(BATCH_SIZE, np.uint32),
            np.zeros((n_arms, BATCH_SIZE), np.uint32),
            np.zeros((n_arms, BATCH_SIZE)),
            np.zeros(BATCH_SIZE),
            guide_for(bounds),
        )


class BatchOfManyArms(NamedTuple):
    """The same for many arms, of which only cells are kept: few of a patient's rewards are ever looked at."""

    words: Any
    steps: Any
    cells: Any  # [draw, patient]
    baseline: Any
    guide: Any

    @staticmethod
    def of(n_arms: int, bounds: Any) -> BatchOfManyArms:
        """Room for one thread."""
        return BatchOfManyArms(
            np.zeros(BATCH_SIZE, np.uint64),
            np.zeros(BATCH_SIZE, np.int64),
            np.zeros((n_arms, BATCH_SIZE), np.uint32),
            np.zeros(BATCH_SIZE),
            guide_for(bounds),
        )


@generic
def draw_patients(batch: Any, arms: Any, patients: Any, bounds: Any, first: int, n: int, rng: Any) -> None:
    """Fill a batch with the next n patients."""


@generic
def patient_at(batch: Any, patients: Any, i: Any, chosen: int) -> Any:
    """What the ith patient of a batch takes and gains if an arm is chosen."""


@implements(draw_patients, Batch, inlined=False)
def draw_for_few_arms(batch: Batch, arms: Any, patients: Any, bounds: Any, first: int, n: int, rng: Any) -> None:
    """What every patient takes and gains under every arm."""
    in_wide_vectors()
    steps, cells, baseline = batch.steps, batch.cells, batch.baseline
    begin(batch, first, n, rng)
    for arm in range(arms.number):
        draw = arm if bounds.shape[0] > 1 else 0
        if arm == draw:
            draw_steps(rng, first, n, draw, steps)
            if bounds.shape[1] > FEW_CELLS:
                find_among_many(bounds[draw], batch.guide[draw], n, steps, cells)
        actual, reward = batch.actual[arm], batch.reward[arm]
        if bounds.shape[1] > FEW_CELLS:
            look_up(patients.actual[arm], patients.reward[arm], n, cells, actual, reward)
        else:
            look_up_among_few(bounds[draw], patients.actual[arm], patients.reward[arm], n, steps, actual, reward)
        for i in range(n):
            baseline[i] += reward[i]
    for i in range(n):
        baseline[i] /= arms.number


@implements(patient_at, Batch)
def patient_of_few_arms(batch: Batch, patients: Any, i: Any, chosen: int) -> Any:
    """As drawn."""
    return batch.actual[chosen, i], batch.reward[chosen, i]


@implements(draw_patients, BatchOfManyArms)
def draw_for_many_arms(
    batch: BatchOfManyArms, arms: Any, patients: Any, bounds: Any, first: int, n: int, rng: Any
) -> None:
    """The cells of every patient, and what it gains on average."""
    in_wide_vectors()
    steps, baseline = batch.steps, batch.baseline
    begin(batch, first, n, rng)
    for arm in range(arms.number):
        draw = arm if bounds.shape[0] > 1 else 0
        cells, reward = batch.cells[draw], patients.reward[arm]
        if arm == draw:
            draw_steps(rng, first, n, draw, steps)
            if bounds.shape[1] > FEW_CELLS:
                find_among_many(bounds[draw], batch.guide[draw], n, steps, cells)
            else:
                find_among_few(bounds[draw], n, steps, cells)
        for i in range(n):
            baseline[i] += reward[cells[i]]
    for i in range(n):
        baseline[i] /= arms.number


@implements(patient_at, BatchOfManyArms)
def patient_of_many_arms(batch: BatchOfManyArms, patients: Any, i: Any, chosen: int) -> Any:
    """What belongs to the cell."""
    cell = batch.cells[chosen if patients.bounds.shape[1] > 1 else 0, i]
    return patients.actual[chosen, cell], patients.reward[chosen, cell]


@inline
def begin(batch: Any, first: int, n: int, rng: Any) -> None:
    """Draw the first word of each decision."""
    words, baseline, outer, middle = batch.words, batch.baseline, rng[0], rng[1]
    for i in range(n):
        words[i] = word_at(outer, middle, first + i, CHOOSE, 0)
        baseline[i] = 0.0


@inline
def draw_steps(rng: Any, first: int, n: int, draw: int, steps: Any) -> None:
    """One of the draws of each patient."""
    outer, middle = rng[0], rng[1]
    for i in range(n):
        steps[i] = step(word_at(outer, middle, first + i, PATIENT, draw))
