"""Trials of a design on a GPU: each thread is a lane that plays one trial at a time, as on processors."""

from __future__ import annotations

from typing import Any

from adhere.compilation.gpu import GpuKernel, cuda
from adhere.design.kernel import NO_FAULT, play_trial


def run_trials_on_gpu(
    rule: Any, sizes: Any, setting: Any, allocation: Any, rules: Any, initial: Any, keys: Any, patients: Any,
    outcomes: Any, room: Any, bets: Any, fault: Any,
) -> None:  # fmt: skip
    """Play one trial for each row of keys; `fault[0]` becomes an arm that does not exist if one is chosen."""
    lane = cuda.grid(1)
    run = lane
    while run < keys.shape[0]:
        found = play_trial(
            rule, sizes, setting, allocation, rules, initial, keys, patients, outcomes, room, bets, lane, run
        )
        if found != NO_FAULT:
            fault[0] = found
            return
        run += cuda.gridsize(1)


RUN_TRIALS_ON_GPU = GpuKernel(run_trials_on_gpu)
