"""The figures of the README: how long policies take, to compile and to run, and how much memory a simulation takes.

Run it on a quiet machine: .venv/bin/python benchmarks/core.py (about two minutes).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import adhere

LEARNERS = ("uniform", "epsilon-greedy", "ucb1", "thompson", "base-thompson", "exp3")
HYBRIDS = (
    "hierarchical(epsilon-greedy)",
    "hierarchical(thompson)",
    "hierarchical(exp3)",
    "hierarchical(thompson, recycle=true)",
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
    "thompson-bounded(hierarchical(thompson))",
    "thompson-bounded(hierarchical(exp3))",
    "hierarchical-exp3",
)
FIRST_USES = (
    "thompson",
    "hierarchical(thompson)",
    "thompson-bounded(hierarchical(epsilon-greedy))",
    "thompson-bounded(hierarchical(exp3), recycle=true)",
    "hierarchical(experts=[thompson, exp3(gamma=0.1)/actual, ucb1/comply])",
)
MEMORY = """
import resource, adhere
adhere.simulate("thompson", "stroke-aspirin", n_patients=100, n_runs=1_000_000)
print(round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))
"""


def running() -> None:
    """2000 runs of 10,000 patients on two arms, two threads, compiled code warm; the best of three."""
    n_runs, n_patients = 2000, 10_000
    print(f"{n_runs} runs x {n_patients} patients, stroke-aspirin, two threads, warm")
    for policy in LEARNERS + HYBRIDS:
        adhere.simulate(policy, "stroke-aspirin", n_patients=10, n_runs=1)
        seconds = min(_timed(policy, n_patients, n_runs) for _ in range(3))
        print(f"  {policy:62s} {seconds:5.2f} s  {2e9 * seconds / n_runs / n_patients:4.0f} ns a decision a core")


def _timed(policy: str, n_patients: int, n_runs: int) -> float:
    start = time.perf_counter()
    adhere.simulate(policy, "stroke-aspirin", n_patients, n_runs, n_threads=2)
    return time.perf_counter() - start


def starting() -> None:
    """A small job from the command line: the first time ever, and later."""
    print("adhere simulate of 10 runs x 100 patients, whole command; the best of three")
    for policy in FIRST_USES:
        firsts, laters = [], []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                firsts.append(_command(policy, folder))
                laters.append(_command(policy, folder))
        first, later = min(firsts), min(laters)
        print(f"  {policy:62s} first {first:4.1f} s (compiling {first - later:4.1f} s), later {later:4.1f} s")


def _command(policy: str, cache: str) -> float:
    arguments = ["simulate", "--population", "defiers", "--policy", policy, "--runs", "10", "--patients", "100"]
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "adhere", *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, "ADHERE_CACHE_DIR": cache},
    )
    return time.perf_counter() - start


def memory() -> None:
    """The largest memory of a million runs."""
    done = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True)
    print(f"1,000,000 runs x 100 patients of thompson: at most {done.stdout.strip()} MB")


if __name__ == "__main__":
    running()
    starting()
    memory()
