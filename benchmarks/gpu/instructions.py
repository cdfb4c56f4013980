"""Counted instructions, read from the GPU's counters by NVIDIA's profiler: how near a kernel is to the limit.

A multiprocessor of a Hopper GPU starts at most four instructions in each cycle, each for 32 threads.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys

_METRICS = {
    "smsp__inst_executed.sum": "instructions",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "threads_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": "alu_percent",
    "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": "fp64_percent",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active": "fma_percent",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory_percent",
    "launch__registers_per_thread": "registers",
}
_SMALL = (135_168, 1000)  # runs, patients: the profiler runs a kernel many times over
_LAUNCH = "from benchmarks.gpu.kernels import launches; launches({!r}, {!r}, {}, {}, 1)"


def counted(policy: str, population: str) -> dict[str, float]:
    """What the counters say of one launch; empty where there is no profiler."""
    ncu = shutil.which("ncu")
    if ncu is None:
        return {}
    command = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--launch-skip", "1", "--launch-count", "1"]
    command += ["--metrics", ",".join(_METRICS), sys.executable, "-c", _LAUNCH.format(policy, population, *_SMALL)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or len(lines) < 3:
        return {}
    heads, _, values = csv.reader(lines[:3])
    found = dict(zip(heads, values, strict=True))
    counts = {name: float(found[metric].replace(",", "")) for metric, name in _METRICS.items() if metric in found}
    if "instructions" in counts:  # of warps of 32 threads
        counts["instructions_per_decision"] = counts["instructions"] * 32 / (_SMALL[0] * _SMALL[1])
    return counts
