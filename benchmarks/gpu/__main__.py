"""Measure adhere on a CUDA GPU, from the repository's root: python -m benchmarks.gpu. See `make bench-gpu`."""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
from benchmarks.gpu.instructions import counted
from benchmarks.gpu.kernels import launches
from benchmarks.gpu.table import markdown

import adhere
from adhere.studies import lineup
from adhere.studies.framework.report_writer import machine

RESULTS = Path(__file__).parents[1] / "results"
MAIN = tuple(one.policy for one in lineup.MAIN)
TWO_ARMS, THREE_ARMS = "stroke-aspirin", "stroke-heparin"
HYBRID = "hierarchical(epsilon-greedy)"
MEDIATED = "mediated-thompson"
BARS = {"epsilon-greedy": 1e11, "thompson": 1e11, HYBRID: 3e10, f"thompson-bounded({HYBRID})": 3e10, MEDIATED: 5e9}
OTHERS = ("exp3", "hierarchical(thompson)", "hierarchical(exp3)", f"thompson-bounded({HYBRID}, recycle=true)")
N_RUNS, N_PATIENTS = 1_000_000, 10_000


def main() -> None:
    """Measure, then write table and figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description="How fast adhere is on a GPU.")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results (benchmarks/results)")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{_gpu()}; {machine()}",
        "versions": {"adhere": adhere.__version__, "numba": numba.__version__, "numpy": np.__version__},
        "equal": _compared(),
        "study": _study(),
        "speeds": [],
    }
    subjects = [(policy, TWO_ARMS) for policy in (*BARS, *OTHERS)] + [
        (policy, THREE_ARMS) for policy in ("thompson", MEDIATED)
    ]
    for policy, population in subjects:
        n_runs = N_RUNS if policy in BARS and population == TWO_ARMS else N_RUNS // 4
        speed = launches(policy, population, n_runs, N_PATIENTS, 3)
        whole = _whole(policy, population, n_runs)
        counts = counted(policy, population)
        print(f"{policy} on {population}: {speed.rate:.2e} decisions/s, {whole:.2f} s in all, {counts}", flush=True)
        bar = BARS.get(policy) if population == TWO_ARMS else None
        found["speeds"].append({**vars(speed), "rate": speed.rate, "bar": bar, "whole": whole, "counts": counts})
    (folder / "gpu.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (folder / "gpu.md").write_text(markdown(found), encoding="utf-8")
    print(f"wrote gpu.md and gpu.json in {folder}")


def _gpu() -> str:
    query = ["nvidia-smi", "--query-gpu=name,clocks.max.sm,driver_version", "--format=csv,noheader"]
    name, clock, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip().split(", ")
    return f"one {name}, {clock} at most, driver {driver}"


def _compared() -> dict[str, int]:
    """How many of the stroke study's results are the same to the bit on the GPU and on the processor."""
    arguments = {"n_patients": 10_000, "n_runs": 200, "progress": False}
    on_gpu, on_cpu = (
        adhere.simulate(MAIN, [TWO_ARMS, THREE_ARMS], device=one, **arguments) for one in ("cuda", "cpu")
    )
    same = sum(mine == theirs for mine, theirs in zip(on_gpu.outcomes, on_cpu.outcomes, strict=True))
    print(f"{same} of {len(on_cpu.outcomes)} results are equal to the processor's, to the bit", flush=True)
    return {"same": same, "of": len(on_cpu.outcomes), "n_runs": 200, "n_patients": 10_000}


def _study() -> list[float]:
    """Seconds of the whole stroke study, compiled before."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        adhere.simulate(MAIN, [TWO_ARMS, THREE_ARMS], 10_000, 2000, device="cuda", pooled=True, progress=False)
        seconds.append(time.perf_counter() - begin)
    print(f"the stroke study: {', '.join(f'{one:.2f}' for one in seconds)} s", flush=True)
    return seconds


def _whole(policy: str, population: str, n_runs: int) -> float:
    """Seconds of a whole `simulate`, with what the processor makes of the tallies."""
    begin = time.perf_counter()
    adhere.simulate(policy, population, N_PATIENTS, n_runs, device="cuda", progress=False)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
