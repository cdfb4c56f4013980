"""The kernel alone, timed by the GPU's own events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adhere.compilation.gpu import cuda
from adhere.policies import as_policy
from adhere.populations import as_population
from adhere.simulation.kernels.gpu_runner import GpuRunner, on_gpu
from adhere.simulation.kernels.kernel import NO_FAULT, Tallies
from adhere.simulation.plan import grid_points

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
    runner = GpuRunner(as_policy(policy), answering, n_patients, grid)
    runner.prepare(lambda _: None)
    shapes = Tallies.zeros(1, len(grid), answering.n_arms, len(runner.deciders))
    there: Any = Tallies(*(cuda.device_array((n_runs, *one.shape[1:]), one.dtype) for one in shapes))
    fault = cuda.to_device(np.array([NO_FAULT]))
    tables = answering.tables(0, 0, n_runs)
    arguments = [on_gpu(one, 0) for one in runner.arguments(0, range(n_runs), tables, there, fault)]
    seconds = []
    for repetition in range(repetitions + 1):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        runner.kernel[-(-n_runs // THREADS), THREADS](*arguments)
        end.record()
        end.synchronize()
        if repetition:
            seconds.append(cuda.event_elapsed_time(begin, end) / 1000)
    return Speed(policy, population, n_runs, n_patients, tuple(seconds))
