"""How much of three-armed Thompson sampling is the random generator: words counted, their drawing timed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from benchmarks.cpu.measuring import Subject, Timed, timed
from benchmarks.cpu.ours import N_PATIENTS, SEED, THREE_ARMS

from adhere.policies.numerics.beta import draw_largest
from adhere.populations import as_population
from adhere.randomness import CHOOSE, mix, point, stream, uniform, unit

GENERATOR = "generator alone"
TOGETHER, ONE_BY_ONE = "many at a time", "one by one"
_DRAWS = np.uint64((1 << 20) - 1)
_N_WORDS = 50_000_000


@dataclass(frozen=True)
class Words:
    """Words a decision: for the patient and for the choice, the first of which is drawn with the patient's."""

    patient: float
    choice: float


def words_a_decision(n_trials: int) -> Words:
    """Play some trials in plain Python, with adhere's own sampler and patients, and look at the counter."""
    population = as_population(THREE_ARMS)
    n_arms, drawn = population.n_arms, 0
    with np.errstate(over="ignore"):
        for run in range(n_trials):
            rng, rewards = stream(SEED, run), population.patients(SEED, run, N_PATIENTS).reward
            successes, failures = np.ones(n_arms), np.ones(n_arms)
            for t in range(N_PATIENTS):
                point(rng, t, CHOOSE)
                chosen = draw_largest(successes, failures, 0.0, rng)
                drawn += int(rng[2] & _DRAWS)
                successes[chosen] += rewards[t, chosen]
                failures[chosen] += 1.0 - rewards[t, chosen]
    return Words(float(population.tables(SEED, 0, 1).cumulative.shape[1]), drawn / n_trials / N_PATIENTS)


@numba.njit
def draw_together(rng: Any, numbers: Any, n_words: int) -> float:
    """As patients are drawn: a loop that only fills an array."""
    total, outer, middle = 0.0, rng[0], rng[1]
    for first in range(0, n_words, numbers.size):
        for i in range(numbers.size):
            numbers[i] = unit(mix(np.uint64(first + i) ^ outer, middle))
        total += numbers[-1]
    return total


@numba.njit
def draw_one_by_one(rng: Any, n_words: int) -> float:
    """As choices are made: one number after the other, each put to use, so that no two are drawn at once."""
    total = 0.0
    for _ in range(n_words):
        total += uniform(rng)
    return total


def subjects() -> list[Subject]:
    """Both ways of drawing; a decision here is a word."""
    rng, numbers = stream(SEED, 0), np.empty(1024)
    draw_together(rng, numbers, 1024)
    draw_one_by_one(rng, 1)
    n = _N_WORDS // 1024 * 1024
    return [
        Subject(GENERATOR, TOGETHER, lambda: Timed(timed(lambda: draw_together(rng, numbers, n)), n)),
        Subject(GENERATOR, ONE_BY_ONE, lambda: Timed(timed(lambda: draw_one_by_one(rng, n)), n)),
    ]
