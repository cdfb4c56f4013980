"""Runs a policy on a GPU. Imported only where one is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from adhere.compilation.gpu import cuda
from adhere.compilation.policy_failures import wrong_arm
from adhere.compilation.static import MAX_STATIC
from adhere.errors import InputError
from adhere.populations import PatientTables
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.gpu import RUN_ON_GPU, Cells
from adhere.simulation.kernels.kernel import NO_FAULT, Tallies
from adhere.simulation.kernels.patients import Patients
from adhere.simulation.kernels.policy_runner import Started
from adhere.simulation.plan import Integers

# Threads of one block share a multiprocessor. Few runs are spread over as many of them as there are.
_THREADS, _THREADS_OF_FEW, _FEW_RUNS = 128, 32, 1 << 15


class GpuRunner(CompiledRunner):
    """Runs a policy's compiled form on the GPU: the same rules, patients and random numbers."""

    loop = RUN_ON_GPU
    target, n_counts = " for the GPU", 1

    def _room(self, patients: Patients) -> Cells:
        n_draws, n_cells = patients.bounds.shape[1:]
        cells = Cells(n_draws, n_cells, n_draws * n_cells)
        largest = max(*self._sizes[:-1], *self._sizes.arms, *cells)
        if largest > MAX_STATIC:
            expected = f"at most {MAX_STATIC} numbers of state, memo and cells of the population on a GPU"
            raise InputError("device", f"cuda for {self.resolved} ({largest:,} numbers)", expected)
        return cells

    def start(self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers) -> Started:
        """Launch the kernel; what is returned waits for it and fills the tallies."""
        tallies = self._blank_tallies(len(runs))
        if stop[0]:
            return lambda: tallies
        stream = cuda.stream()
        there: Any = Tallies(*(cuda.device_array(one.shape, one.dtype, stream=stream) for one in tallies))
        fault = cuda.to_device(np.array([NO_FAULT]), stream=stream)
        _, *arguments = self.arguments(seed, runs, tables, there, fault)
        threads = _THREADS if len(runs) > _FEW_RUNS else _THREADS_OF_FEW
        launch = self.kernel[-(-len(runs) // threads), threads, stream]
        launch(self._rule_there, *(on_gpu(one, stream) for one in arguments))

        def finish() -> Tallies:
            for one, filled in zip(tallies, there, strict=True):
                filled.copy_to_host(one, stream=stream)
            arm = int(fault.copy_to_host(stream=stream)[0])
            stream.synchronize()
            if arm != NO_FAULT:
                raise wrong_arm(self.resolved, self._rule, arm, self._population.n_arms)
            done[0] += len(runs) * self._n_patients
            return tallies

        return finish

    @cached_property
    def _rule_there(self) -> Any:
        """The rule, copied once for all blocks of runs: its tables may be large."""
        return on_gpu(self._rule, stream=0)


def on_gpu(value: Any, stream: Any) -> Any:
    """An argument whose arrays lie in the GPU's memory."""
    if isinstance(value, tuple):
        parts = [on_gpu(part, stream) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return cuda.to_device(value, stream=stream) if isinstance(value, np.ndarray) else value
