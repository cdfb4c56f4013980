"""One definition serves the simulation and the live trial: fed the same patients, both choose the same arms."""

from __future__ import annotations

import numpy as np

from adhere.populations import homogeneous

from .playing import first_run_of_engine, play, run_of_engine, trial_on
from .policies_under_test import is_compiled, variants
from .populations_under_test import graded_rewards, mixed

N_PATIENTS, SEED = 60, 11


def test_trial_picks_the_arms_of_the_same_run_of_the_engine(subject: str, n_arms: int) -> None:
    population = mixed(n_arms, graded_rewards(subject))
    for text in variants(subject, n_arms):
        for run in (0, 4):
            trial = trial_on(text, population, N_PATIENTS, SEED, run)
            played = play(trial, population.patients(SEED, run, N_PATIENTS))
            arms = run_of_engine(text, population, N_PATIENTS, SEED, run, compiled=is_compiled(subject, n_arms))
            assert np.array_equal(played, arms), text


def test_the_engine_is_what_simulate_runs(subject: str, n_arms: int) -> None:
    population = mixed(n_arms, graded_rewards(subject))
    for text in variants(subject, n_arms):
        arms = run_of_engine(text, population, N_PATIENTS, SEED, run=0)
        assert np.array_equal(arms, first_run_of_engine(text, population, N_PATIENTS, SEED)), text


def test_trial_follows_the_engine_where_whole_patients_are_drawn(subject: str) -> None:
    population = homogeneous()
    arms = run_of_engine(subject, population, N_PATIENTS, SEED, run=2)
    trial = trial_on(subject, population, N_PATIENTS, SEED, run=2)
    assert np.array_equal(play(trial, population.patients(SEED, 2, N_PATIENTS)), arms)


def test_another_seed_or_run_is_another_trial() -> None:
    population = mixed(3)
    ways = [(SEED, 0), (SEED, 1), (SEED + 1, 0)]
    played = [run_of_engine("thompson", population, N_PATIENTS, seed, run).tolist() for seed, run in ways]
    assert played[0] != played[1] != played[2] != played[0]
