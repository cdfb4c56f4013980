"""How cost grows with patients, runs, arms, experts and threads, and memory with runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.cpu.measuring import Narrator, Rounds, Subject, Timed, alternate, growth_exponent, timed
from benchmarks.cpu.ours import GREEDY, HIERARCHICAL, N_PATIENTS, THOMPSON, TWO_ARMS, prepare, simulate, subject

from adhere.populations import Count, Counts

PATIENTS, RUNS, ARMS, EXPERTS = "patients", "runs", "arms", "experts"
ONE_THREAD, TWO_THREADS = "one thread", "two threads"
THREADED = (THOMPSON, "hierarchical(thompson)")
_SIZES = {
    PATIENTS: (1000, 10_000, 100_000, 1_000_000),
    RUNS: (1000, 10_000, 100_000, 1_000_000),
    ARMS: (2, 4, 8, 16, 32),
    EXPERTS: (2, 4, 8, 16),
}
FEW_PATIENTS = 100  # of each of many runs
_MEMORY_RUNS = (10_000, 100_000, 1_000_000)
_LEARNERS = (THOMPSON, GREEDY, HIERARCHICAL)
EXPERTS_POLICY = "hierarchical of ε-greedy experts"
# Linux says it in /proc; what getrusage says there begins with the mark of the process that started this one.
_MEMORY = """
import pathlib, sys, adhere
adhere.simulate("thompson", "stroke-aspirin", n_patients=100, n_runs=int(sys.argv[1]), progress=False)
status = pathlib.Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) / 1000 for line in status if line.startswith("VmHWM:")))
"""


@dataclass(frozen=True)
class Growth:
    """Nanoseconds a decision as one size grows, for some policies; sizes are the makers of these rounds."""

    size: str
    sizes: tuple[int, ...]
    policies: tuple[str, ...]
    rounds: Rounds

    def medians(self, policy: str) -> list[float]:
        """Nanoseconds a decision, by size."""
        return [self.rounds.cost((str(size), policy)).median for size in self.sizes]

    def exponent(self, policy: str) -> float:
        """How total cost grows: 1 is linear. Two arms are left out, for Thompson sampling has a rule of their own."""
        several = self.size in (PATIENTS, RUNS)  # make as many decisions more; more arms and experts do not
        totals = [ns * (size if several else 1) for size, ns in zip(self.sizes, self.medians(policy), strict=True)]
        return growth_exponent(self.fitted, totals[-len(self.fitted) :])

    @property
    def fitted(self) -> tuple[int, ...]:
        """The sizes of which `exponent` speaks."""
        return self.sizes[1:] if self.size == ARMS else self.sizes

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"size": self.size, "sizes": self.sizes, "policies": self.policies, "rounds": self.rounds.to_json()}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Growth:
        """What `to_json` gave."""
        rounds = Rounds.from_json(data["rounds"])
        return Growth(data["size"], tuple(data["sizes"]), tuple(data["policies"]), rounds)


def trial_of(n_arms: int) -> Counts:
    """A made-up trial: nine in ten take what they are told, the others the next arm; at least half do well."""
    arms = tuple(f"arm {number}" for number in range(n_arms))
    rows = []
    for number, told in enumerate(arms):
        for taken, patients in ((told, 900), (arms[(number + 1) % n_arms], 100)):
            well = patients * (50 + 25 * number // n_arms) // 100
            rows += [Count(told, taken, 1.0, well), Count(told, taken, 0.0, patients - well)]
    return Counts(f"{n_arms} arms", arms, rows)


def hierarchy_of(n_experts: int) -> str:
    """A hierarchy over so many ε-greedy learners, no two alike."""
    experts = (f"epsilon-greedy(epsilon={0.02 * (number + 1):.2f})" for number in range(n_experts))
    return f"hierarchical(experts=[{', '.join(experts)}])"


def measure(seconds: float, n_rounds: int, sizes: int | None, narrator: Narrator) -> list[Growth]:
    """Cost as each size grows; at most so many sizes of each."""
    growths = []
    for size, every in _SIZES.items():
        chosen = every[:sizes]
        narrator.heading(f"cost as {size} grow: {', '.join(f'{n:,}' for n in chosen)}")
        policies = {PATIENTS: _LEARNERS, RUNS: (THOMPSON,), ARMS: _LEARNERS, EXPERTS: (EXPERTS_POLICY,)}[size]
        subjects = _subjects(size, chosen, policies, seconds, narrator)
        growths.append(Growth(size, chosen, policies, alternate(subjects, n_rounds, narrator)))
    return growths


def _subjects(
    size: str, sizes: Sequence[int], policies: Sequence[str], seconds: float, narrator: Narrator
) -> list[Subject]:
    if size == EXPERTS:
        texts = {n: hierarchy_of(n) for n in sizes}
        prepare(list(texts.values()), TWO_ARMS, narrator)
        return [subject(text, TWO_ARMS, seconds, maker=str(n), called=EXPERTS_POLICY) for n, text in texts.items()]
    if size == RUNS:
        return [_runs(n, policy) for n in sizes for policy in policies]
    prepare(list(policies), TWO_ARMS, narrator)
    if size == PATIENTS:
        return [subject(one, TWO_ARMS, seconds, maker=str(n), n_patients=n) for n in sizes for one in policies]
    return [subject(one, trial_of(n), seconds, maker=str(n)) for n in sizes for one in policies]


def _runs(n_runs: int, policy: str) -> Subject:
    def run() -> Timed:
        seconds = timed(lambda: simulate(policy, TWO_ARMS, FEW_PATIENTS, n_runs))
        return Timed(seconds, n_runs * FEW_PATIENTS)

    return Subject(str(n_runs), policy, run)


def threads(seconds: float, n_rounds: int, narrator: Narrator) -> Rounds:
    """The same work on one thread and on two."""
    narrator.heading("one thread and two")
    prepare(list(THREADED), TWO_ARMS, narrator)
    subjects = []
    for policy in THREADED:
        size = subject(policy, TWO_ARMS, seconds).run().decisions // N_PATIENTS
        subjects += [_on(n_threads, policy, size) for n_threads in (1, 2)]
    return alternate(subjects, n_rounds, narrator)


def _on(n_threads: int, policy: str, n_runs: int) -> Subject:
    def run() -> Timed:
        return Timed(timed(lambda: simulate(policy, TWO_ARMS, N_PATIENTS, n_runs, n_threads)), n_runs * N_PATIENTS)

    return Subject({1: ONE_THREAD, 2: TWO_THREADS}[n_threads], policy, run)


def memory(sizes: int | None, narrator: Narrator) -> dict[int, float]:
    """The most memory a process takes, in megabytes, by how many runs of 100 patients of Thompson it simulates."""
    narrator.heading("memory as runs grow")
    found = {}
    with narrator.steps(len(_MEMORY_RUNS[:sizes])) as step:
        for n_runs in _MEMORY_RUNS[:sizes]:
            step(f"{n_runs:,} runs of {FEW_PATIENTS} patients")
            command = [sys.executable, "-c", _MEMORY, str(n_runs)]
            found[n_runs] = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found
