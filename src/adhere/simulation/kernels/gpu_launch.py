"""Launch of a compiled loop on a GPU, where each thread plays one trial at a time. Imported only if a GPU is used."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adhere.compilation.gpu import cuda

# The threads of a block share a multiprocessor. If there are few runs, they are spread over all multiprocessors.
_THREADS, _THREADS_OF_FEW, _FEW_RUNS = 128, 32, 1 << 15
_MAX_BLOCKS, _MAX_BYTES = 1024, 16 << 30  # limits on the trials played at a time, if each needs workspace in memory


def launch(
    kernel: Any, rule: Any, fixed: Any, outcomes: Any, workspace: Callable[..., tuple[Any, ...]], no_fault: int
) -> Callable[[], int]:
    """Launch the kernel, and return a function that waits for it, fills in the outcomes and returns a fault.

    `rule` is already on the GPU. `fixed` contains the arguments between the rule and the outcomes. `workspace`
    creates the workspace of a number of lanes.
    """
    n_runs, stream = len(outcomes[0]), cuda.stream()
    make = partial(cuda.device_array, stream=stream)
    there: Any = type(outcomes)(*(make(one.shape, one.dtype) for one in outcomes))
    fault = cuda.to_device(np.array([no_fault]), stream=stream)
    threads = _THREADS if n_runs > _FEW_RUNS else _THREADS_OF_FEW
    n_blocks = -(-n_runs // threads)
    if per_lane := _n_bytes(workspace(1, np.zeros)) - _n_bytes(workspace(0, np.zeros)):
        n_blocks = max(1, min(n_blocks, _MAX_BLOCKS, _MAX_BYTES // (threads * per_lane)))
    n_lanes = n_blocks * threads
    done, stop = np.zeros(n_lanes, np.int64), np.zeros(1, np.int64)
    arguments = (*fixed, there, *workspace(n_lanes, make), done, stop)
    kernel[n_blocks, threads, stream](rule, *(on_gpu(one, stream) for one in arguments), fault)

    def finish() -> int:
        for one, filled in zip(outcomes, there, strict=True):
            filled.copy_to_host(one, stream=stream)
        found = int(fault.copy_to_host(stream=stream)[0])
        stream.synchronize()
        return found

    return finish


def on_gpu(value: Any, stream: Any = 0) -> Any:
    """Return an argument with its arrays copied to the GPU's memory."""
    if isinstance(value, tuple):
        parts = [on_gpu(part, stream) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return cuda.to_device(value, stream=stream) if isinstance(value, np.ndarray) else value


def _n_bytes(value: Any) -> int:
    """Return the size in bytes of the arrays in nested named tuples."""
    if isinstance(value, tuple):
        return sum(map(_n_bytes, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0
