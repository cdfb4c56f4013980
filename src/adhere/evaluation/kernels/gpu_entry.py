"""Trials of a design on a GPU. Each thread is a lane that plays one trial at a time, like a lane on a CPU."""

from typing import Any

from adhere.compilation import inline
from adhere.compilation.gpu import GpuKernel, cuda
from adhere.evaluation.kernels.trial import play_trials
from adhere.simulation.kernels import NO_FAULT

inline(play_trials)


def play_trials_on_gpu(
    rule: Any, sizes: Any, conditions: Any, allocation: Any, rules: Any, initial: Any, keys: Any, patients: Any,
    outcomes: Any, workspace: Any, bets: Any, done: Any, stop: Any, fault: Any,
) -> None:  # fmt: skip
    """Play one trial for each row of keys. If the policy chooses an invalid arm, write it to `fault[0]`."""
    found = play_trials(
        rule, sizes, conditions, allocation, rules, initial, keys, patients, outcomes, workspace, bets, done,
        stop, cuda.grid(1), cuda.gridsize(1),
    )  # fmt: skip
    if found != NO_FAULT:
        fault[0] = found


PLAY_TRIALS_ON_GPU = GpuKernel(play_trials_on_gpu)
