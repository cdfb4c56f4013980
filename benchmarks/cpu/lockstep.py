"""Two-armed bandits as one writes them in NumPy: many runs side by side, a patient at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from benchmarks.cpu.measuring import Subject, Timed, amount_for, timed
from benchmarks.cpu.ours import GREEDY, THOMPSON
from numpy.typing import NDArray

Play = Callable[[NDArray[np.float64], np.random.Generator], None]
LOCKSTEP = "NumPy in lockstep"
N_RUNS = 2000
_MEANS = np.array([0.9064, 0.9103])


def thompson(rewards: NDArray[np.float64], rng: np.random.Generator) -> None:
    """`Generator.beta` for every run and arm."""
    runs = np.arange(N_RUNS)
    successes, failures = np.ones((N_RUNS, 2)), np.ones((N_RUNS, 2))
    for patient in rewards:
        chosen = rng.beta(successes, failures).argmax(axis=1)
        reward = patient[runs, chosen]
        successes[runs, chosen] += reward
        failures[runs, chosen] += 1.0 - reward


def epsilon_greedy(rewards: NDArray[np.float64], rng: np.random.Generator) -> None:
    """adhere's schedule, ties at random."""
    runs = np.arange(N_RUNS)
    n, sums = np.zeros((N_RUNS, 2)), np.zeros((N_RUNS, 2))
    for t, patient in enumerate(rewards, start=1):
        epsilon = 1.0 / math.log(t + 1e-7) if t > 2 else 1.0
        means = sums / np.maximum(n, 1.0)
        u, coin = rng.random(N_RUNS), rng.random(N_RUNS) < 0.5
        best = np.where(means[:, 0] == means[:, 1], coin, means[:, 1] > means[:, 0])
        chosen = np.where(u < epsilon, u < epsilon / 2.0, best).astype(np.int64)
        n[runs, chosen] += 1.0
        sums[runs, chosen] += patient[runs, chosen]


def subjects(seconds: float) -> list[Subject]:
    """Both, on rewards drawn beforehand, for as many patients as take about so many seconds."""
    return [_subject(THOMPSON, thompson, seconds), _subject(GREEDY, epsilon_greedy, seconds)]


def _subject(policy: str, play: Play, seconds: float) -> Subject:
    rng = np.random.default_rng(1)

    def run(n_patients: int) -> float:
        rewards = (rng.random((n_patients, N_RUNS, 2)) < _MEANS).astype(np.float64)
        return timed(lambda: play(rewards, rng))

    n = amount_for(seconds, run, 20, 2000)
    return Subject(LOCKSTEP, policy, lambda: Timed(run(n), n * N_RUNS))
