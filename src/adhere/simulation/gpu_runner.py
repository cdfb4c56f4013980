"""Runs a policy on a GPU. Imported only where one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adhere.compilation.gpu import cuda
from adhere.compilation.static import MAX_STATIC
from adhere.errors import InputError
from adhere.populations import PatientTables
from adhere.randomness import STREAM_SIZE, stream_keys
from adhere.simulation.compiled_runner import CompiledRunner
from adhere.simulation.gpu_kernel import RUN_ON_GPU, GpuSizes
from adhere.simulation.kernel import NO_FAULT, Tallies
from adhere.simulation.patients import Patients
from adhere.simulation.plan import Integers
from adhere.simulation.policy_runner import nothing_to_wait_for, wrong_arm

# Threads of one block share a multiprocessor. Few runs are spread over as many of them as there are.
_THREADS, _THREADS_OF_FEW, _FEW_RUNS = 128, 32, 1 << 15


class GpuRunner(CompiledRunner):
    """Runs a policy's compiled form on the GPU: the same rules, patients and random numbers."""

    loop = RUN_ON_GPU
    target = " for the GPU"

    def _example(self) -> tuple[Any, ...]:
        """Arguments of the right types."""
        tables = self._population.tables(0, 0, 1)
        tallies = Tallies.zeros(1, len(self._grid), self._population.n_arms, len(self.deciders))
        return self.arguments_on_gpu(0, 0, tables, tallies, np.zeros(1, np.int64))

    def arguments_on_gpu(
        self, seed: int, first_run: int, tables: PatientTables, tallies: Any, fault: Any
    ) -> tuple[Any, ...]:
        """What the kernel takes, for as many runs as the tallies have."""
        assembled, patients = self._assembled, Patients.of(tables)
        n_draws, n_cells = patients.bounds.shape[1:]
        sizes = GpuSizes(
            assembled.state.size,
            assembled.memo_size + assembled.scratch_size,
            STREAM_SIZE,
            self._population.n_arms,
            len(self.deciders),
            n_draws,
            n_cells,
            n_draws * n_cells,
        )
        if max(sizes) > MAX_STATIC:
            expected = f"at most {MAX_STATIC} numbers of state, memo and cells of the population on a GPU"
            raise InputError("device", f"cuda for {self.resolved} ({max(sizes):,} numbers)", expected)
        return (
            assembled.rule,
            sizes,
            assembled.state,
            stream_keys(seed, first_run, len(tallies.rewards)),
            patients._replace(bounds=patients.bounds.astype(np.float64)),
            self._n_patients,
            self._grid,
            self._n_last,
            tallies,
            fault,
        )

    def start(
        self, seed: int, first_run: int, tables: PatientTables, tallies: Tallies, done: Integers, stop: Integers
    ) -> Callable[[], None]:
        """Launch the kernel; what is returned waits for it and fills the tallies."""
        if stop[0]:
            return nothing_to_wait_for
        n_runs, stream = len(tallies.rewards), cuda.stream()
        there: Any = Tallies(*(cuda.device_array(one.shape, one.dtype, stream=stream) for one in tallies))
        fault = cuda.to_device(np.array([NO_FAULT]), stream=stream)
        arguments = self.arguments_on_gpu(seed, first_run, tables, there, fault)
        threads = _THREADS if n_runs > _FEW_RUNS else _THREADS_OF_FEW
        self.kernel[-(-n_runs // threads), threads, stream](*(on_gpu(one, stream) for one in arguments))

        def finish() -> None:
            for one, filled in zip(tallies, there, strict=True):
                filled.copy_to_host(one, stream=stream)
            arm = int(fault.copy_to_host(stream=stream)[0])
            stream.synchronize()
            if arm != NO_FAULT:
                raise wrong_arm(self.resolved, arm, self._population.n_arms)
            done[0] += n_runs * self._n_patients

        return finish


def on_gpu(value: Any, stream: Any) -> Any:
    """An argument whose arrays lie in the GPU's memory."""
    if isinstance(value, tuple):
        parts = [on_gpu(part, stream) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return cuda.to_device(value, stream=stream) if isinstance(value, np.ndarray) else value
