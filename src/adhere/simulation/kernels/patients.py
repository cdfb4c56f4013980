"""Patients, drawn one by one or in batches. Batches use one loop per step, so that an instruction handles eight
patients.

The cell of the population's table that a patient's draw falls into determines what the patient takes and gains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import generic, generic_with_default, implements, inline, no_inline
from adhere.compilation.intrinsics import in_wide_vectors
from adhere.populations import PatientTables
from adhere.randomness import CHOOSE, PATIENT, point, point_with, step, steps_to, word_at

# The number of patients that are drawn together, and between two checks whether to stop. Their data fit into the
# processor's cache.
BATCH_SIZE = 512
# Up to this number of cells, a draw is compared with every boundary. With more cells, a guide tells where to begin.
FEW_CELLS = 32
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL_STEPS = 1 << 53
_LOW_BITS, _HIGH_BITS = np.uint64(21), np.uint64(32)  # of the 53 bits of a step


class Arms(NamedTuple):
    """Number of arms. With few arms it is a compile-time constant, so that divisions become multiplications."""

    number: int


class Patients(NamedTuple):
    """Tables from which patients are drawn (`populations.PatientTables`), in the form that compiled code uses."""

    bounds: Any  # [run or 1, draw, cell] the first step beyond a cell
    actual: Any  # [arm, cell]
    reward: Any  # [arm, cell]

    @staticmethod
    def of(tables: PatientTables) -> Patients:
        """Return the tables of a population in compiled form."""
        return Patients(steps_to(tables.cumulative), tables.actual.astype(np.uint32), tables.reward)


class Batch(NamedTuple):
    """Workspace of patients drawn together, and of the first random word of each decision about them."""

    words: Any
    steps: Any
    cells: Any  # the cells that the draws fell into
    actual: Any  # [arm, patient]; unsigned, so that compiled code need not check for negative indices
    reward: Any  # [arm, patient]
    baseline: Any  # mean of a patient's rewards over the arms
    guide: Any  # [draw, entry] guide to the cells, if there are many

    @staticmethod
    def of(n_arms: int, bounds: Any) -> Batch:
        """Return the workspace of one thread."""
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
    """Batch for many arms. Only cells are stored, since few of a patient's rewards are ever used."""

    words: Any
    steps: Any
    cells: Any  # [draw, patient]
    baseline: Any
    guide: Any

    @staticmethod
    def of(n_arms: int, bounds: Any) -> BatchOfManyArms:
        """Return the workspace of one thread."""
        return BatchOfManyArms(
            np.zeros(BATCH_SIZE, np.uint64),
            np.zeros(BATCH_SIZE, np.int64),
            np.zeros((n_arms, BATCH_SIZE), np.uint32),
            np.zeros(BATCH_SIZE),
            guide_for(bounds),
        )


class OneByOne(NamedTuple):
    """No batch: a GPU's thread draws each patient when its arm is chosen; bounds of cells are in registers."""

    draws: int  # number of draws per patient
    cells: int  # number of cells per draw


class CellsInMemory(NamedTuple):
    """No batch: a draw's cell is found by searching the tables in memory. The number of cells is a power of two."""

    size: int = 0


class Bounds(NamedTuple):
    """Bounds of the cells of a run's patients. A tuple, since loops without run-time memory cannot return arrays."""

    steps: Any  # [draw, cell], or flat


@generic_with_default
def bounds_of_run(batch: Any, patients: Any, run: Any, local: Any) -> Any:
    """Return the bounds of the cells of a run's patients, after preparing the guide to them."""
    has_own = patients.bounds.shape[0] > 1
    bounds = patients.bounds[run if has_own else 0]
    if run == 0 or has_own:
        fill_guide(bounds, batch.guide)
    return Bounds(bounds)


@generic_with_default
def point_to_choice(batch: Any, rng: Any, t: Any, i: Any) -> None:
    """Begin the random numbers of a choice. The first one was drawn with the batch."""
    point_with(rng, t, CHOOSE, batch.words[i])


@generic_with_default
def count_one(batch: Any, counts: Any, n: int, index: Any) -> None:
    """Add one to one of n counts."""
    counts[index] += 1


@generic_with_default
def complete_counts(batch: Any, counts: Any, n: int, total: Any) -> None:
    """Fill in the counts that `count_one` postponed."""


@generic_with_default
def draw_patients(batch: Any, arms: Any, patients: Any, bounds: Any, first: int, n: int, rng: Any) -> None:
    """Fill a batch, if there is one, with the next n patients."""


@generic
def patient_at(batch: Any, arms: Any, patients: Any, bounds: Any, t: Any, i: Any, chosen: int, rng: Any) -> Any:
    """Return what patient t, the ith of a batch, takes and gains under the chosen arm, and the mean gain over
    arms.
    """


@implements(draw_patients, Batch)
def draw_for_few_arms(batch: Batch, arms: Any, patients: Any, bounds: Any, first: int, n: int, rng: Any) -> None:
    """Store what every patient of a batch takes and gains under every arm."""
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
def patient_of_few_arms(
    batch: Batch, arms: Any, patients: Any, bounds: Any, t: Any, i: Any, chosen: int, rng: Any
) -> Any:
    """Return the stored values of the patient."""
    return batch.actual[chosen, i], batch.reward[chosen, i], batch.baseline[i]


@implements(draw_patients, BatchOfManyArms)
def draw_for_many_arms(
    batch: BatchOfManyArms, arms: Any, patients: Any, bounds: Any, first: int, n: int, rng: Any
) -> None:
    """Store the cells of every patient of a batch, and the mean gain over all arms."""
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
def patient_of_many_arms(
    batch: BatchOfManyArms, arms: Any, patients: Any, bounds: Any, t: Any, i: Any, chosen: int, rng: Any
) -> Any:
    """Return the values in the patient's cell."""
    cell = batch.cells[chosen if bounds.shape[0] > 1 else 0, i]
    return patients.actual[chosen, cell], patients.reward[chosen, cell], batch.baseline[i]


@inline
def begin(batch: Any, first: int, n: int, rng: Any) -> None:
    """Draw the first word of each decision."""
    words, baseline, outer, middle = batch.words, batch.baseline, rng[0], rng[1]
    for i in range(n):
        words[i] = word_at(outer, middle, first + i, CHOOSE, 0)
        baseline[i] = 0.0


@inline
def draw_steps(rng: Any, first: int, n: int, draw: int, steps: Any) -> None:
    """Draw one of the random numbers of each patient, as integers (see `randomness.step`)."""
    outer, middle = rng[0], rng[1]
    for i in range(n):
        steps[i] = step(word_at(outer, middle, first + i, PATIENT, draw))


@inline
def draw_patient(search: Any, n_arms: int, patients: Any, bounds: Any, t: Any, chosen: int, rng: Any) -> Any:
    """Return what one patient takes and gains, and the mean over arms of what it would gain."""
    actual, reward, total, cell = np.uint32(0), 0.0, 0.0, np.uint32(0)
    for arm in range(n_arms):
        if arm < n_draws(search, bounds):
            cell = cell_of(search, bounds, arm, step(word_at(rng[0], rng[1], t, PATIENT, arm)))
        gained = patients.reward[arm, cell]
        total += gained
        actual, reward = (patients.actual[arm, cell], gained) if arm == chosen else (actual, reward)
    return actual, reward, total / n_arms


@generic
def n_draws(search: Any, bounds: Any) -> Any:
    """Return the number of draws per patient."""


@generic
def cell_of(search: Any, bounds: Any, draw: int, drawn: Any) -> Any:
    """Return the index of the cell that a draw falls into: the number of boundaries at or below it."""


@implements(n_draws, CellsInMemory)
def n_draws_in_memory(search: CellsInMemory, bounds: Any) -> Any:
    """Return the number of draws in the tables."""
    return bounds.shape[0]


@implements(cell_of, CellsInMemory)
def cell_in_memory(search: CellsInMemory, bounds: Any, draw: int, drawn: Any) -> Any:
    """Find the cell by bisection."""
    cell, half = np.int64(0), np.int64(bounds.shape[1] // 2)  # smaller integer types are slower here
    while half > 0:
        cell += half if drawn >= bounds[draw, cell + half - 1] else 0
        half //= 2
    return cell


@implements(n_draws, OneByOne)
def n_draws_one_by_one(search: OneByOne, bounds: Any) -> Any:
    """Return the number of draws per patient, a constant of the compiled code."""
    return search.draws


@implements(cell_of, OneByOne)
def cell_in_registers(search: OneByOne, bounds: Any, draw: int, drawn: Any) -> Any:
    """Compare the draw with every boundary."""
    cell, number = np.uint32(0), float(drawn)
    for boundary in range(search.cells - 1):
        cell += np.uint32(number >= bounds[draw * search.cells + boundary])
    return cell


@implements(bounds_of_run, OneByOne)
def bounds_in_registers(batch: OneByOne, patients: Any, run: Any, local: Any) -> Any:
    """Copy the bounds as floats, which a GPU handles faster."""
    for draw in range(batch.draws):
        for cell in range(batch.cells):
            local[draw * batch.cells + cell] = patients.bounds[run % patients.bounds.shape[0], draw, cell]
    return Bounds(local)


@implements(point_to_choice, OneByOne)
def point_one_by_one(batch: OneByOne, rng: Any, t: Any, i: Any) -> None:
    """Begin the random numbers of a choice, none of which was drawn before."""
    point(rng, t, CHOOSE)


@implements(count_one, OneByOne)
def count_in_registers(batch: OneByOne, counts: Any, n: int, index: Any) -> None:
    """Add one to a count without indexing at run time. The first count is computed at the end."""
    for one in range(1, n):
        counts[one] += 1 if one == index else 0


@implements(complete_counts, OneByOne)
def complete_first_count(batch: OneByOne, counts: Any, n: int, total: Any) -> None:
    """Set the first count to the total minus all other counts."""
    counts[0] = total
    for one in range(1, n):
        counts[0] -= counts[one]


@implements(patient_at, OneByOne)
def patient_one_by_one(
    batch: OneByOne, arms: Any, patients: Any, bounds: Any, t: Any, i: Any, chosen: int, rng: Any
) -> Any:
    """Draw the patient now."""
    return draw_patient(batch, arms.number, patients, bounds, t, chosen, rng)


@no_inline
def look_up_among_few(bounds: Any, actuals: Any, rewards: Any, n: int, steps: Any, actual: Any, reward: Any) -> None:
    """Store what each of n patients takes and gains, given the cells that their draws fall into.

    Each pass handles three boundaries, since two arms and two rewards make four cells.
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


@inline
def look_up(actuals: Any, rewards: Any, n: int, cells: Any, actual: Any, reward: Any) -> None:
    """Store what each of n patients takes and gains, given its cell."""
    for i in range(n):
        actual[i], reward[i] = actuals[cells[i]], rewards[cells[i]]


@inline
def find_among_few(bounds: Any, n: int, steps: Any, cells: Any) -> None:
    """Find the cell that each of n draws falls into, three boundaries per pass, as in `look_up_among_few`."""
    last = bounds.size - 1
    for i in range(n):
        cells[i] = 0
    for cell in range(0, last, 3):
        next_1 = cell + 1 if cell + 1 < last else last
        next_2 = cell + 2 if cell + 2 < last else last
        bound_1, bound_2, bound_3 = bounds[cell], bounds[next_1], bounds[next_2]
        for i in range(n):
            draw = steps[i]
            cells[i] += np.uint32(draw >= bound_1) + np.uint32(draw >= bound_2) + np.uint32(draw >= bound_3)


def guide_for(bounds: Any) -> Any:
    """Return an empty guide to each draw's cells, with four entries per cell; it has no entries if there are few
    cells.
    """
    n_draws, n_cells = bounds.shape[-2:]
    n_entries = 4 << int(n_cells - 1).bit_length() if n_cells > FEW_CELLS else 0
    return np.zeros((n_draws, n_entries), np.uint32)


@no_inline
def fill_guide(bounds: Any, guide: Any) -> None:
    """Store the cell at which each of several equal parts of a draw's range begins."""
    if guide.shape[1] > 0:
        width = _ALL_STEPS // guide.shape[1]
        for draw in range(guide.shape[0]):
            cell = _ZERO
            for entry in range(guide.shape[1]):
                cell = _cell_from(cell, bounds[draw], entry * width)
                guide[draw, entry] = cell


@no_inline
def find_among_many(bounds: Any, guide: Any, n: int, steps: Any, cells: Any) -> None:
    """Find the cell that each of n draws falls into, with a guide.

    On average an entry covers a quarter of a boundary, so little is left to search. Vector instructions would not
    pay.
    """
    n_entries = np.uint64(guide.size)
    for i in range(n):
        entry = ((np.uint64(steps[i]) >> _LOW_BITS) * n_entries) >> _HIGH_BITS
        cells[i] = _cell_from(np.uint64(guide[entry]), bounds, steps[i])


@inline
def _cell_from(cell: Any, bounds: Any, step: Any) -> Any:
    """Return the cell that a draw falls into, which is `cell` or a later one."""
    last = np.uint64(bounds.size - 1)
    while step >= bounds[cell] and cell < last:
        cell += _ONE
    return cell
