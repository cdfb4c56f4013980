"""Checks of promises about compiled code, run with bounds checks in a separate process.

Numba's bounds checks are a flag of a whole process. Code that fails them could otherwise crash the process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adhere.compilation.policy_failures import ARM, calling_after
from adhere.compilation.user_code import sentence_of, traceback_place
from adhere.contract.findings import ARMS, COMPILES, FINITE, GPU, HIERARCHY, INDICES, RUNS, TRIAL, Finding
from adhere.contract.patients import mixed, populations
from adhere.contract.promises import ARM_COUNTS, SEED, class_place, in_hierarchy, variants
from adhere.errors import CompileError, InputError, PolicyError
from adhere.policies import Policy, import_policies
from adhere.policies.base.registry import from_json
from adhere.populations import Population
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.patient_loop import run_block
from adhere.trial import Trial

N_PATIENTS = 60
N_LONGER, N_RUNS = 2000, 8  # for compiled loops, which are fast
_TIMEOUT = 600
SECONDS_TO_PLAY = 90.0  # for the trials on one population, and for one of them as Python if it fails
_PROMISES = {ARM: ARMS, "IndexError": INDICES, "ZeroDivisionError": FINITE}  # promises by the error of a policy


def check_compiled(file: Path, policy: Policy) -> list[Finding]:
    """Compile a policy and run it in a separate process."""
    own = [str(file), json.dumps(policy.to_json()), str(SECONDS_TO_PLAY)]
    command = [sys.executable, "-m", "adhere.contract.compiled_process", *own]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_DISABLE_JIT": "0"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return [Finding(COMPILES, False, f"{class_place(type(policy))}: not done after {_TIMEOUT} seconds")]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    found = [Finding(*line) for line in lines]
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        sentence = f"{class_place(type(policy))}: compiling or running it ended the process: {last[0][:200]}"
        found.append(Finding(COMPILES, False, sentence))
    return found


def main(file: str, policy: str, seconds: str) -> None:
    """Print each finding as a line of JSON; this is what the separate process runs."""
    import_policies(file)
    for finding in findings_of(from_json(json.loads(policy)), float(seconds)):
        print(json.dumps(finding), flush=True)


def findings_of(policy: Policy, seconds: float = SECONDS_TO_PLAY) -> Iterator[Finding]:
    """Yield whether each promise is kept by the code that this process compiles."""
    try:
        for variant in variants(policy):
            _play_longer(variant, seconds)
        yield Finding(COMPILES, True, "with bounds checks")
        different = _differences(policy)
        yield Finding(TRIAL, not different, different)
    except Exception as error:
        yield _failure(error, COMPILES, TRIAL)
        return
    hierarchy = in_hierarchy(policy)
    if hierarchy is not None:
        try:
            _play_longer(hierarchy, seconds)
            yield Finding(HIERARCHY, True)
        except Exception as error:
            yield _failure(error, HIERARCHY, HIERARCHY)
    yield _on_gpu(policy)


def _failure(error: Exception, compiling: str, running: str) -> Finding:
    if isinstance(error, CompileError):
        return Finding(compiling, False, str(error))
    if isinstance(error, PolicyError):
        return Finding(_PROMISES.get(error.kind, RUNS), False, f"{error.field}: {error.expected}")
    if isinstance(error, InputError):
        return Finding(running, False, str(error))
    promise = INDICES if isinstance(error, IndexError) else running
    place = traceback_place(error.__traceback__) or "compiled code"
    return Finding(promise, False, f"{place}: {sentence_of(error)}")


def _play_longer(policy: Policy, seconds: float) -> None:
    """Play long trials on all populations, to raise errors that only occur late."""
    for population in populations():
        runner = CompiledRunner(policy, population, N_LONGER, np.array([N_LONGER]))
        runner.prepare(lambda *_: None)
        with _limited(policy, population, seconds):
            runner.start(SEED, range(N_RUNS), population.tables(SEED, 0, N_RUNS), *np.zeros((2, 1), np.int64))


def _limited(policy: Policy, population: Population, seconds: float) -> AbstractContextManager[None]:
    """End the process if playing takes too long, since nothing else stops a compiled loop that never ends."""

    def end() -> None:
        long = f"a trial of {N_LONGER:,} patients on {population.name} still runs after {seconds:g} seconds"
        sentence = f"{class_place(type(policy.learners()[0]))}: {long}; does every loop end?"
        print(json.dumps(Finding(RUNS, False, sentence)), flush=True)
        os._exit(0)

    return calling_after(seconds, end)


def _differences(policy: Policy) -> str:
    for n_arms in ARM_COUNTS:
        population = mixed(n_arms)
        for variant in variants(policy):
            live = _live_arms(variant, population)
            # Compiling takes seconds for each number of arms, but the steps of a live trial are the same for all of
            # them.
            simulated = _simulated_arms(variant, population, compiled=n_arms == ARM_COUNTS[0])
            differs = live != simulated
            if differs.any():
                what = f"{variant} with {n_arms} arms differs from patient {int(differs.argmax()) + 1} on"
                return f"{class_place(type(policy))}: {what}"
    return ""


def _live_arms(policy: Policy, population: Population) -> NDArray[np.int64]:
    """Return the arms that a live trial recommends if patients answer at once."""
    trial = Trial(policy, population.arms, SEED, N_PATIENTS, reward_values=population.reward_values)
    patients, chosen = population.patients(SEED, 0, N_PATIENTS), []
    for actual, reward in zip(patients.actual, patients.reward, strict=True):
        recommendation = trial.recommend()
        arm = trial.arms.index(recommendation.arm)
        trial.report(recommendation.id, actual=trial.arms[actual[arm]], reward=float(reward[arm]))
        chosen.append(arm)
    return np.array(chosen)


def _simulated_arms(policy: Policy, population: Population, compiled: bool) -> NDArray[np.int64]:
    """Return the arms of the simulation's first run, compiled or as Python."""
    runner = CompiledRunner(policy, population, N_PATIENTS, np.arange(1, N_PATIENTS + 1))
    if compiled:
        runner.prepare(lambda *_: None)
    else:
        runner.kernel = run_block
    counts = np.zeros((2, 1), np.int64)
    with np.errstate(all="ignore"):
        pulls = runner.start(SEED, range(1), population.tables(SEED, 0, 1), *counts)().pulls[0]
    arms: NDArray[np.int64] = np.diff(pulls, axis=0, prepend=0).argmax(axis=1)
    return arms


def _on_gpu(policy: Policy) -> Finding:
    """Check whether the policy can run on a GPU; on a machine with a GPU, run it there."""
    runner = CompiledRunner(policy, mixed(2), N_PATIENTS, np.array([N_PATIENTS]))
    mistake = runner.why_it_allocates()
    if mistake is not None:
        return Finding(GPU, None, f"no: {mistake}")
    try:
        from adhere.compilation.gpu import why_no_gpu
    except ImportError as error:
        reason: str | None = sentence_of(error)
    else:
        reason = why_no_gpu()
    if reason is not None:
        return Finding(GPU, True, f"it makes no arrays; it was not compiled for CUDA here ({reason})")
    return _tried_on_gpu(policy)


def _tried_on_gpu(policy: Policy) -> Finding:
    from adhere.compilation.gpu import SIMULATED
    from adhere.simulation.simulate import simulate

    try:
        there, here = (
            simulate(policy, mixed(2), N_PATIENTS, 64, SEED, device=device, progress=False)[0]
            for device in ("cuda", "cpu")
        )
    except InputError as error:
        return Finding(GPU, None, f"no: {error}")
    if there != here:
        return Finding(GPU, False, f"{class_place(type(policy))}: the results differ from those of the processor")
    where = "tried in Numba's simulator of CUDA, not on a GPU" if SIMULATED else "tried on the one here"
    return Finding(GPU, True, where)
