"""The kernel alone, timed by the GPU's own events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adhere.compilation.gpu import cuda
from adhere.policies import as_policy
from adhere.populations import as_population
from adhere.randomness import stream_keys
from adhere.simulation.kernels import NO_FAULT
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.gpu_launch import on_gpu
from adhere.simulation.measures.measure import Tallies
from adhere.simulation.simulation_plan import grid_points

THREADS = 128


@dataclass(frozen=True)
class Speed:
    """How long one launch takes."""

    policy: str
    population: str
    n_runs: int
    n_patients: int
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Decisions a second, the best of the repetitions."""
        return self.n_runs * self.n_patients / min(self.seconds)


def launches(policy: str, population: str, n_runs: int, n_patients: int, repetitions: int) -> Speed:
    """Run the kernel a few times, after a small launch to warm up."""
    answering = as_population(population)
    grid = grid_points(None, n_patients)
    runner = CompiledRunner(as_policy(policy), answering, n_patients, grid, "cuda")
    runner.prepare(lambda _: None)
    shapes = Tallies.zeros(1, len(grid), answering.n_arms, len(runner.components))
    there: Any = Tallies(*(cuda.device_array((n_runs, *one.shape[1:]), one.dtype) for one in shapes))
    fault = cuda.to_device(np.array([NO_FAULT]))
    tables = answering.tables(0, 0, n_runs)
    n_blocks = -(-n_runs // THREADS)
    done, stop = np.zeros(n_blocks * THREADS, np.int64), np.zeros(1, np.int64)
    fixed = runner.fixed_arguments(stream_keys(0, 0, n_runs), tables)
    arguments = [on_gpu(one) for one in (*fixed, there, *runner.workspace(1, np.zeros), done, stop, fault)]
    seconds = []
    for repetition in range(repetitions + 1):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        runner.kernel[n_blocks, THREADS](*arguments)
        end.record()
        end.synchronize()
        if repetition:
            seconds.append(cuda.event_elapsed_time(begin, end) / 1000)
    return Speed(policy, population, n_runs, n_patients, tuple(seconds))
