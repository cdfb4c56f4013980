"""The loop over patients on a GPU. Each thread is a lane that plays one trial at a time, as on processors."""

from typing import Any

from adhere.compilation import inline
from adhere.compilation.gpu import GpuKernel, cuda
from adhere.simulation.kernels import NO_FAULT
from adhere.simulation.kernels.patient_loop import run_block

inline(run_block)


def run_on_gpu(
    rule: Any, sizes: Any, initial: Any, keys: Any, patients: Any, n_patients: int, grid: Any, n_last: int,
    tallies: Any, workspace: Any, done: Any, stop: Any, fault: Any,
) -> None:  # fmt: skip
    """Run one trial for each row of keys. If a policy chooses an arm that does not exist, store it in `fault[0]`."""
    found = run_block(
        rule, sizes, initial, keys, patients, n_patients, grid, n_last, tallies, workspace, done, stop, cuda.grid(1),
        cuda.gridsize(1),
    )  # fmt: skip
    if found != NO_FAULT:
        fault[0] = found


RUN_ON_GPU = GpuKernel(run_on_gpu)
