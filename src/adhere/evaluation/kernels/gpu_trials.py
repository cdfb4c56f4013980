"""Plays trials of a design on a GPU. Imported only where one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adhere.compilation.gpu import cuda
from adhere.evaluation.characteristics.outcomes import TrialOutcomes
from adhere.evaluation.kernels.gpu import PLAY_TRIALS_ON_GPU
from adhere.evaluation.kernels.trial import NO_FAULT
from adhere.simulation.kernels.gpu_runner import on_gpu
from adhere.simulation.plan import Integers

if TYPE_CHECKING:
    from adhere.evaluation.kernels.trial_runner import TrialRunner

_THREADS, _MAX_BLOCKS = 128, 1024  # of a block, and of all trials that are played at a time
_MAX_BYTES = 16 << 30  # of what they work in


class Gpu:
    """One trial in each thread at a time."""

    kernel, words, last = PLAY_TRIALS_ON_GPU, " for the GPU", (np.zeros(1, np.int64), np.zeros(1, np.int64))

    def start(self, runner: TrialRunner, fixed: Any, outcomes: TrialOutcomes, stop: Integers) -> Callable[[], int]:
        """Launch the kernel; what is returned waits for it and fills the outcomes."""
        n_runs = len(outcomes.decision)
        if stop[0] or n_runs == 0:
            return lambda: NO_FAULT
        stream = cuda.stream()
        make = partial(cuda.device_array, stream=stream)
        there: Any = TrialOutcomes._make(make(one.shape, one.dtype) for one in outcomes)
        fault = cuda.to_device(np.array([NO_FAULT]), stream=stream)
        per_block = _THREADS * _n_bytes(runner.room(1))
        n_blocks = max(1, min(-(-n_runs // _THREADS), _MAX_BLOCKS, _MAX_BYTES // per_block))
        room, bets = runner.room(n_blocks * _THREADS, make)
        launch = runner.compiled[n_blocks, _THREADS, stream]
        launch(*(on_gpu(one, stream) for one in (*fixed, there, room, bets, stop)), fault)

        def finish() -> int:
            for one, filled in zip(outcomes, there, strict=True):
                filled.copy_to_host(one, stream=stream)
            arm = int(fault.copy_to_host(stream=stream)[0])
            stream.synchronize()
            return arm

        return finish


def _n_bytes(value: Any) -> int:
    """The size of the arrays in named tuples."""
    if isinstance(value, tuple):
        return sum(map(_n_bytes, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0
