"""What a user waits for: a small command the first time ever and later, and the whole stroke study."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from statistics import median

from benchmarks.cpu.measuring import Narrator, timed
from benchmarks.cpu.ours import N_PATIENTS, THREE_ARMS, TWO_ARMS

import adhere
from adhere.studies.lineup import MAIN

COMMANDS = (
    "thompson",
    "hierarchical(thompson)",
    "thompson-bounded(hierarchical(epsilon-greedy))",
    "thompson-bounded(hierarchical(exp3), recycle=true)",
    "hierarchical(experts=[thompson, exp3(gamma=0.1)/actual, ucb1/comply])",
)
FIRST, LATER = "first", "later"
STUDY_RUNS = 2000


def commands(n_policies: int | None, n_times: int, narrator: Narrator) -> dict[str, dict[str, list[float]]]:
    """Seconds of `adhere simulate`, by policy: with nothing compiled yet, and then again."""
    narrator.heading("adhere simulate of 10 runs x 100 patients, the whole command, first ever and later")
    chosen = COMMANDS[:n_policies]
    found: dict[str, dict[str, list[float]]] = {policy: {FIRST: [], LATER: []} for policy in chosen}
    with narrator.steps(len(chosen) * n_times) as step:
        for _ in range(n_times):
            for policy in chosen:
                step(policy)
                with tempfile.TemporaryDirectory() as cache:
                    for when in (FIRST, LATER):
                        found[policy][when].append(timed(partial(_command, policy, cache)))
    return found


def _command(policy: str, cache: str) -> None:
    arguments = ["simulate", "--population", "defiers", "--policy", policy, "--runs", "10", "--patients", "100"]
    _run(["-m", "adhere", *arguments], {"ADHERE_CACHE_DIR": cache})


def _run(arguments: list[str], variables: dict[str, str]) -> None:
    # Installed, every module is kept compiled; where Python may not do so, a checkout is compiled at each start.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=kept | variables)


def stroke_study(n_runs: int, narrator: Narrator) -> float:
    """Seconds of 20 policies on two trials, on two threads, everything compiled."""
    narrator.heading(f"the stroke study: {len(MAIN)} policies x 2 trials x {n_runs:,} runs x {N_PATIENTS:,} patients")
    policies, trials = [entry.policy for entry in MAIN], [TWO_ARMS, THREE_ARMS]
    with narrator.steps(2) as step:
        step("compiling or loading")
        adhere.simulate(policies, trials, 10, 1, progress=False)
        step("simulating")
        return timed(lambda: adhere.simulate(policies, trials, N_PATIENTS, n_runs, n_threads=2, progress=False))


def beside_imports(n_times: int, narrator: Narrator) -> float:
    """How many times as long as `import numba, polars` a command with a policy compiled before takes: of medians."""
    narrator.heading(f"adhere simulate of a cached policy, and import numba, polars: {n_times} times each, by turns")
    took: dict[str, list[float]] = {"simulate": [], "imports": []}
    imports = partial(_run, ["-c", "import numba, polars"], {})
    with tempfile.TemporaryDirectory() as cache, narrator.steps(n_times) as step:
        _command(COMMANDS[0], cache)
        imports()
        for number in range(n_times):
            step(f"turn {number + 1}")
            took["simulate"].append(timed(partial(_command, COMMANDS[0], cache)))
            took["imports"].append(timed(imports))
    simulate, bare = (median(seconds) for seconds in took.values())
    narrator.note(f"{simulate:.2f} s and {bare:.2f} s: {simulate / bare:.2f} times as long")
    return simulate / bare


if __name__ == "__main__":
    beside_imports(15, Narrator())
