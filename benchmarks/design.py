"""How long trials of a design take, on processors and, where there is one, on a GPU.

    python -m benchmarks.design [--device cuda]

The bars: 10,000 trials of 300 patients with five looks, a delay of 30 patients, Thompson, by posterior within 2 s on
two cores, and a million on one GPU within 10 s; 1,000 of adaptr's published example within 0.5 s on two cores. All is
timed after a warm-up. For a GPU, also the share of 2,000 trials whose every number is the same as on processors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from adhere.design.design import Design
from adhere.design.parts import Delay, Looks, Stopping
from adhere.evaluation.kernels.trial_runner import TrialRunner
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.processors import usable_processors

BAR = Design(
    "five looks",
    "thompson",
    ("old", "new"),
    300,
    looks=Looks(every=60),
    delay=Delay(30.0),
    stopping=Stopping("posterior", superiority=0.99, inferiority="1 - superiority"),
)
ADAPTR = Design(
    "adaptr's example",
    "floor(thompson, share=0.2, rule=clip)",
    ("A", "B", "C"),
    2000,
    update="at looks",
    looks=Looks(at=tuple(range(300, 2001, 100))),
    delay=Delay(100.0),
    stopping=Stopping("posterior", superiority=0.9814, inferiority="1 - superiority", equivalence=0.9, margin=0.05),
)
MEANS = {BAR.name: (0.5, 0.5), ADAPTR.name: (0.75, 0.75, 0.75)}
_PER_LAUNCH, _PER_TURN = 1 << 18, 250


def compliers(design: Design) -> ComplianceTypes:
    """A population in which everybody takes what is recommended."""
    means = MEANS[design.name]
    return ComplianceTypes(
        "compliers", design.arms, [ComplianceType("as told", 1.0, takes=tuple(range(len(means))), reward=means)]
    )


def play(runner: TrialRunner, population: ComplianceTypes, runs: range, seed: int = 1) -> TrialOutcomes:
    """Some trials."""
    done, stop = np.zeros((2, 1), np.int64)
    return runner.start(seed, runs, population.tables(seed, runs.start, len(runs)), done, stop)()


def play_all(design: Design, n_trials: int, device: str, n_threads: int) -> tuple[float, Sequence[TrialOutcomes]]:
    """The seconds that trials take, and what they leave behind."""
    population = compliers(design)
    assert design.n_patients is not None
    runner = TrialRunner(design, population, np.array([design.n_patients]), None, device)
    runner.prepare(lambda message: print(f"  {message}", flush=True))
    step = _PER_LAUNCH if device == "cuda" else _PER_TURN
    parts = [range(first, min(first + step, n_trials)) for first in range(0, n_trials, step)]
    play(runner, population, parts[0])
    start = time.perf_counter()
    if device == "cuda":
        found = [play(runner, population, part) for part in parts]
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            found = list(pool.map(lambda part: play(runner, population, part), parts))
    return time.perf_counter() - start, found


def say(design: Design, n_trials: int, device: str, n_threads: int) -> None:
    """Time it, and say what came of the trials, for the eye."""
    seconds, found = play_all(design, n_trials, device, n_threads)
    decision = np.concatenate([one.decision for one in found])
    size = np.concatenate([one.n_patients for one in found])
    shares = " ".join(f"{share:.4f}" for share in np.bincount(decision, minlength=5) / n_trials)
    where = device if device == "cuda" else f"{n_threads} threads"
    print(f"{design.name}, {n_trials:,} trials, {where}: {seconds:.3f} s; decisions {shares}; size {size.mean():.1f}")


def share_equal(design: Design, n_trials: int) -> float:
    """The share of trials that leave behind the same on a GPU as on processors, to the bit."""
    equal = np.ones(n_trials, bool)
    (_, mine), (_, theirs) = (play_all(design, n_trials, device, 1) for device in ("cuda", "cpu"))
    for column in range(len(mine[0])):
        one, other = (np.concatenate([part[column] for part in parts]) for parts in (mine, theirs))
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        equal &= same.reshape(n_trials, -1).all(axis=1)
    return float(equal.mean())


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=usable_processors())
    options = parser.parse_args()
    say(BAR, 10_000, options.device, options.threads)
    say(BAR, 1_000_000, options.device, options.threads)
    say(ADAPTR, 1_000, options.device, options.threads)
    say(ADAPTR, 24_000, options.device, options.threads)
    if options.device == "cuda":
        for design in (BAR, ADAPTR):
            print(f"{design.name}: {share_equal(design, 2000):.2%} of 2,000 trials equal on a GPU, to the bit")


if __name__ == "__main__":
    main()
