"""Compile the policies of studies in several processes at once, because Numba compiles one at a time per process.

`python -m adhere.studies.framework.precompile 3 thompson 2 exp3` compiles Thompson sampling with three arms and EXP3
with two.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable

import numpy as np

from adhere.policies import as_policy
from adhere.populations import Counts
from adhere.processors import usable_processors
from adhere.simulation.kernels.compiled_runner import CompiledRunner

Wanted = tuple[str, int]  # a policy and its number of arms
_FEW = 2  # number of compositions for which starting processes is not worth it


def precompile(wanted: Iterable[Wanted], on_progress: Callable[[int, int], None]) -> None:
    """Compile the compositions that are not on disk yet, in several processes if there are many.

    `on_progress` is called with the number of compositions compiled so far and the total number.
    """
    missing = _missing(wanted)
    n_processes = min(usable_processors(), len(missing))
    if len(missing) <= _FEW or n_processes < 2:
        return
    on_progress(0, len(missing))
    reading, writing = os.pipe()  # each process writes one line for each composition
    processes = []
    for first in range(n_processes):
        words = [word for policy, n_arms in missing[first::n_processes] for word in (str(n_arms), policy)]
        command = [sys.executable, "-m", "adhere.studies.framework.precompile", *words]
        processes.append(subprocess.Popen(command, stdout=writing, stderr=subprocess.DEVNULL))
    os.close(writing)
    try:
        # If a process fails, the simulation compiles the remaining policies itself and reports the error.
        with os.fdopen(reading, encoding="utf-8") as lines:
            for n_compiled, _ in enumerate(lines, start=1):
                on_progress(n_compiled, len(missing))
        for process in processes:
            process.wait()
    finally:
        for process in processes:
            process.terminate()


def _missing(wanted: Iterable[Wanted]) -> list[Wanted]:
    """Return one policy for each composition that is not compiled yet."""
    found: dict[object, Wanted] = {}
    for policy, n_arms in dict.fromkeys(wanted):
        found.setdefault(_runner(policy, n_arms).to_compile(), (policy, n_arms))
    found.pop(None, None)  # compositions that are already compiled
    return list(found.values())


def _runner(policy: str, n_arms: int) -> CompiledRunner:
    arms = [f"arm {arm}" for arm in range(n_arms)]
    anyone = Counts("anyone", tuple(arms), [(arm, arm, reward) for arm in arms for reward in (0.0, 1.0)])  # type: ignore[misc]
    return CompiledRunner(as_policy(policy), anyone, 1, np.array([1]))


if __name__ == "__main__":
    for n_arms, policy in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        _runner(policy, int(n_arms)).prepare(lambda _: None)
        print(policy, flush=True)
