"""Trials whose allocation follows what it has seen so far, with reports that come late, in any order, or never."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from adhere.analysis.records import NEVER, NOT_KNOWN, TOOK_NOTHING, Records


def adaptive_trial(
    seed: int,
    n: int,
    means: tuple[float, ...] = (0.3, 0.6),
    *,
    delay: int = 8,
    missing: float = 0.1,
    cross: float = 0.2,
) -> Records:
    """Arm j is successful with probability means[j] where it is taken; `cross` is the share that takes another arm.

    Every decision and every part of a report takes a place in the log; a decision has seen everything before it.
    """
    rng = np.random.default_rng(seed)
    k = len(means)
    chosen, actual, seen = (np.zeros(n, dtype=np.int64) for _ in range(3))
    reward, probabilities = np.full(n, np.nan), np.zeros((n, k))
    actual_at, reward_at = np.full(n, NEVER), np.full(n, NEVER)
    wins, losses, place = np.ones(k), np.ones(k), 0
    due: list[tuple[int, bool, int]] = []  # when, whether it is the reward, of which decision
    for t in range(n):
        for when, is_reward, of in sorted(one for one in due if one[0] <= t):
            due.remove((when, is_reward, of))
            place += 1
            (reward_at if is_reward else actual_at)[of] = place
            if is_reward:
                wins[chosen[of]] += reward[of]
                losses[chosen[of]] += 1 - reward[of]
        share = (wins / (wins + losses)) ** 3 + 0.02
        probabilities[t], seen[t] = share / share.sum(), place
        place += 1
        chosen[t] = rng.choice(k, p=probabilities[t])
        crossed = TOOK_NOTHING if rng.random() < 0.1 else int(rng.integers(k))
        actual[t] = crossed if rng.random() < cross else chosen[t]
        reward[t] = float(rng.random() < means[max(actual[t], 0)])
        due += [(t + 1 + int(rng.integers(delay + 1)), part, t) for part in (False, True) if rng.random() >= missing]
    return replace(
        Records("made", "a test", tuple(f"arm {arm}" for arm in range(k)), chosen, actual, reward),
        actual=np.where(actual_at == NEVER, NOT_KNOWN, actual),
        reward=np.where(reward_at == NEVER, np.nan, reward),
        probabilities=probabilities,
        seen=seen,
        actual_at=actual_at,
        reward_at=reward_at,
    )


def known_by(records: Records, place: int) -> Records:
    """The records as they were when the log had so many places."""
    assert records.reward_at is not None
    assert records.actual_at is not None
    has_reward, has_actual = records.reward_at <= place, records.actual_at <= place
    return replace(
        records,
        reward=np.where(has_reward, records.reward, np.nan),
        actual=np.where(has_actual, records.actual, NOT_KNOWN),
        reward_at=np.where(has_reward, records.reward_at, NEVER),
        actual_at=np.where(has_actual, records.actual_at, NEVER),
    )


def many_trials(
    n_trials: int, n: int, *, compliance: float, gain: float, seed: int, floor: float = 0.0
) -> Iterator[Records]:
    """Trials of two arms whose allocation follows its outcomes; the effect on compliers is `gain`.

    Who does not comply takes the first arm. The allocation has a floor.
    """
    rng = np.random.default_rng(seed)
    wins, losses, rows = np.ones((n_trials, 2)), np.ones((n_trials, 2)), np.arange(n_trials)
    columns: list[tuple[Any, ...]] = []
    for _ in range(n):
        share = (wins / (wins + losses)) ** 4
        pi = floor + (1 - 2 * floor) * share[:, 1] / share.sum(axis=1)
        chosen = (rng.random(n_trials) < pi).astype(np.int64)
        complies = rng.random(n_trials) < compliance
        taken = np.where(complies, chosen, 0)
        reward = (rng.random(n_trials) < np.where(complies, 0.2 + gain * taken, 0.9)).astype(np.float64)
        wins[rows, chosen] += reward
        losses[rows, chosen] += 1 - reward
        columns.append((chosen, taken, reward, pi))
    chosen, taken, reward, pi = (np.array(column).T for column in zip(*columns, strict=True))
    for run in range(n_trials):
        probabilities = np.stack([1 - pi[run], pi[run]], axis=1)
        yield Records("made", "a test", ("x", "y"), chosen[run], taken[run], reward[run], probabilities=probabilities)


def trials_by_stratum(
    n_trials: int,
    n: int,
    *,
    seed: int,
    means: tuple[tuple[float, float], ...] = ((0.1, 0.3), (0.9, 0.7)),
    compliance: float = 1.0,
    pooled: bool = False,
) -> Iterator[Records]:
    """Trials of two arms in which a policy with a floor learns in each stratum by itself, or is `pooled`.

    `means` has the mean outcome of each arm by stratum, where it is taken; strata are equally frequent. Who does not
    comply takes the first arm.
    """
    rng = np.random.default_rng(seed)
    k, rows, given = len(means), np.arange(n_trials), np.array(means)
    wins, losses = np.ones((n_trials, k, 2)), np.ones((n_trials, k, 2))
    columns: list[tuple[Any, ...]] = []
    for _ in range(n):
        stratum = rng.integers(k, size=n_trials)
        learned = np.zeros_like(stratum) if pooled else stratum
        share = (wins[rows, learned] / (wins[rows, learned] + losses[rows, learned])) ** 8
        pi = 0.1 + 0.8 * share[:, 1] / share.sum(axis=1)
        chosen = (rng.random(n_trials) < pi).astype(np.int64)
        taken = np.where(rng.random(n_trials) < compliance, chosen, 0)
        reward = (rng.random(n_trials) < given[stratum, taken]).astype(np.float64)
        wins[rows, learned, chosen] += reward
        losses[rows, learned, chosen] += 1 - reward
        columns.append((chosen, taken, reward, pi, stratum))
    chosen, taken, reward, pi, stratum = (np.array(column).T for column in zip(*columns, strict=True))
    names = tuple("ABCDEFGH"[:k])
    for run in range(n_trials):
        yield Records(
            "made",
            "a test",
            ("old", "new"),
            chosen[run],
            taken[run],
            reward[run],
            probabilities=np.stack([1 - pi[run], pi[run]], axis=1),
            strata=names,
            stratum=stratum[run],
        )
