"""How long `adhere analyse` takes, and how much memory, for a million records.

    python -m benchmarks.analysis

prints a table of seconds and memory: each analysis is a process of its own, from a CSV file to the last number, with
code compiled before; then confidence sequences by themselves, records and effects being in memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from adhere.analysis import Records, RunningSequence, View

BARS = {"without probabilities": 5.0, "with probabilities": 20.0}
_CHILD = """
import resource, sys, time
begun = time.perf_counter()
import adhere
found = adhere.analyse(sys.argv[1])
print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, len(found.sequences))
"""


def adaptive(n: int, seed: int = 1) -> pl.DataFrame:
    """Two arms whose probabilities wander, four in five of whom take what they are told."""
    rng = np.random.default_rng(seed)
    probability = 0.5 + 0.4 * np.sin(np.arange(n) / n * 20.0)
    chosen = (rng.random(n) < probability).astype(np.int64)
    actual = np.where(rng.random(n) < 0.8, chosen, 1 - chosen)
    reward = (rng.random(n) < 0.4 + 0.1 * actual).astype(np.int64)
    columns = {"time": np.arange(n), "chosen": chosen, "actual": actual, "reward": reward}
    return pl.DataFrame({**columns, "propensity_0": 1.0 - probability, "propensity_1": probability})


def analyse(path: Path) -> tuple[float, float]:
    """Seconds and gigabytes of one analysis in a process of its own."""
    out = subprocess.run([sys.executable, "-c", _CHILD, str(path)], check=True, capture_output=True, text=True)
    seconds, memory, _ = map(float, out.stdout.split())
    return seconds, memory


def sequence_seconds(n: int, view: View) -> float:
    """Seconds of a confidence sequence over 1,001 effects, warm."""
    table = adaptive(n)
    probabilities = table.select("propensity_0", "propensity_1").to_numpy()
    records = Records(
        "bench", "", ("0", "1"), table["chosen"].to_numpy(), table["actual"].to_numpy(),
        table["reward"].to_numpy().astype(np.float64), probabilities=probabilities,
    )  # fmt: skip
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        running = RunningSequence(1, 0, view)
        running.update(records)
        running.sequence()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    """Print the table."""
    print("| what | seconds | memory, GB | bar |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, bar in BARS.items():
            table = adaptive(1_000_000)
            shown = table.select("chosen", "actual", "reward") if name.startswith("without") else table
            path = Path(folder) / "trial.csv"
            shown.write_csv(path)
            analyse(path)  # which compiles
            seconds, memory = min(analyse(path) for _ in range(3))
            print(f"| 10⁶ records {name} | {seconds:.1f} | {memory:.2f} | {bar:.0f} s, 1 GB |")
    for n, bar_text in ((100_000, "1 s"), (1_000_000, "")):
        for view in (View.INTENTION_TO_TREAT, View.COMPLIERS):
            name = f"confidence sequence, {view.value}, {n:,} records × 1,001 effects"
            print(f"| {name} | {sequence_seconds(n, view):.2f} | | {bar_text} |")
    print(f"\nIn this process at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB.")


if __name__ == "__main__":
    main()
