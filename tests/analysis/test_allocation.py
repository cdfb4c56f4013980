"""The compiled allocation makes the recommendations of a live trial that is told the same at the same times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adhere import Trial
from adhere.analysis.adaptive.policy_play import Allocator, Schedule
from adhere.analysis.adaptive.policy_play_kernel import ACTUAL, OUTCOME, PLAY_TRIALS, RECOMMEND, REWARD, play_trials
from adhere.analysis.records import NEVER, TOOK_NOTHING
from adhere.errors import InputError
from adhere.randomness import stream_keys
from slow import slow

N, ARMS = 60, ("a", "b")


def live(policy: str, run: int, schedule: Schedule, actual: Any, reward: Any) -> tuple[list[int], list[list[float]]]:
    """What a live trial recommends, told the same in the same order, and the probabilities."""
    trial = Trial(policy, ARMS, seed=5, run=run, n_patients=N)
    chosen: list[int] = []
    ids: list[str] = []
    probabilities: list[list[float]] = []
    for patient, kind, _ in schedule.steps[run].tolist():
        if kind == RECOMMEND:
            told = trial.recommend()
            chosen.append(ARMS.index(told.arm))
            ids.append(told.id)
            probabilities.append(list(told.probabilities.values()))
            continue
        taken = int(actual[run, patient, chosen[patient]])
        what: dict[str, Any] = {"took_nothing": True} if taken == TOOK_NOTHING else {"actual": ARMS[taken]}
        said = {"reward": reward[run, patient, chosen[patient]]}
        parts = {OUTCOME: {**what, **said}, REWARD: said, ACTUAL: what}
        if kind in parts:
            trial.report(ids[patient], **parts[kind])
    return chosen, probabilities


@pytest.mark.parametrize(
    ("policy", "is_compiled"),
    [
        ("thompson/comply", True),
        # As Python: compiling the loop for these takes seconds, and their functions are tested elsewhere.
        slow("thompson-bounded(hierarchical(epsilon-greedy), recycle=true)", False),
        slow("mediated-thompson", False),
    ],
)
def test_it_recommends_as_a_live_trial_does(policy: str, is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_compiled:
        monkeypatch.setattr(PLAY_TRIALS, "compiled", lambda *_: np.errstate(over="ignore")(play_trials))
    draws = np.random.default_rng(2)
    actual, reward = draws.integers(-1, 2, (2, N, 2)), draws.integers(0, 2, (2, N, 2))
    delays, later = draws.integers(0, 20, (2, N)), draws.integers(0, 40, (2, N))
    delays[:, ::7], later[:, ::5] = NEVER, NEVER
    schedule = Schedule.delayed(delays, actual_delay=later)
    assert set(schedule.steps[..., 1].ravel().tolist()) == {-1, RECOMMEND, OUTCOME, REWARD, ACTUAL}
    played = Allocator(policy, 2, schedule).play(actual, reward, stream_keys(5, 0, 2))
    for run in range(2):
        chosen, probabilities = live(policy, run, schedule, actual, reward)
        assert played.chosen[run].tolist() == chosen
        np.testing.assert_allclose(played.probabilities[run], probabilities, rtol=1e-12)


def test_arrays_of_another_shape_are_refused() -> None:
    allocator = Allocator("thompson", 2, Schedule.delayed(0, N))
    with pytest.raises(
        InputError, match=r"actual: got 'an array of shape \(3, 2\)', expected one of shape \(60, 2\)"
    ):
        allocator.play(np.zeros((3, 2)), np.zeros((N, 2)), stream_keys(0, 0, 1))
    with pytest.raises(InputError, match="schedule: got '2 runs', expected 1 run, or 3"):
        Allocator("thompson", 2, Schedule.delayed(np.zeros((2, N), np.int64))).play(
            np.zeros((N, 2)), np.zeros((N, 2)), stream_keys(0, 0, 3)
        )
