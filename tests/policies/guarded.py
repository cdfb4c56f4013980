"""Guarded policies played as Python, one recommendation at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere import parse_policy
from adhere.compilation.layout import Floats
from adhere.contract.interpreted import Decision, Interpreted
from adhere.policies.guards.guard import GUARDED


def interpreted(policy: str, n_arms: int, seed: int = 0) -> Interpreted:
    """A trial of a policy, to be used within `as_python`."""
    return Interpreted(parse_policy(policy), n_arms, seed)


def guard_decided(decision: Decision) -> bool:
    """Whether the outermost guard did."""
    return bool(decision.memo[0] == GUARDED)


def taught(trial: Interpreted, n_patients: int, seed: int) -> Interpreted:
    """After some patients who take and gain anything."""
    rng = np.random.default_rng(seed)
    for number in range(n_patients):
        decision = trial.decide(number)
        trial.note(decision)
        trial.learn(decision, int(rng.integers(trial.n_arms)), float(rng.integers(2)))
    return trial


def draws_of(trial: Interpreted, number: int, n_draws: int = 400) -> tuple[Floats, Floats]:
    """How often each arm is chosen in one recommendation of many runs, and the mean of what is stated for it."""
    counts, stated = np.zeros(trial.n_arms), np.zeros(trial.n_arms)
    for run in range(n_draws):
        trial.turn_to(run)
        counts[trial.decide(number).chosen] += 1
        stated += trial.probabilities(number)
    return counts, stated / n_draws


def changes(trial: Interpreted, decision: Decision, actual: int, reward: float) -> Floats:
    """What one lesson changes in the state, which is then set back."""
    before = np.array(trial.state)
    trial.learn(decision, actual, reward)
    after = np.array(trial.state)
    trial.set_state(before)
    change: Floats = after - before
    return change


def fields(rule: Any, floats: Floats) -> Any:
    """A state by its names."""
    return rule.State(rule, floats)
