"""Compile what studies need in several processes at once: Numba compiles one thing at a time in each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adhere.policies import as_policy
from adhere.populations import defiers
from adhere.simulation.runners import CompiledRunner

_FEW = 2  # compositions that are not worth starting processes for


def compile_ahead(policies: Iterable[str], announce: Callable[[str], None]) -> None:
    """Let other processes compile the compositions that are not on disk yet, if there are many."""
    missing = _missing(policies)
    n_processes = min(os.cpu_count() or 1, len(missing))
    if len(missing) <= _FEW or n_processes < 2:
        return
    announce(f"compiling {len(missing)} compositions of policies (once; then they are kept on disk)")
    processes = [_compile(missing[first::n_processes]) for first in range(n_processes)]
    try:
        # Should one fail, the simulation compiles the rest itself, and says what is wrong.
        for process in processes:
            process.wait()
    finally:
        for process in processes:
            process.terminate()


def _missing(policies: Iterable[str]) -> list[str]:
    """One policy for each composition that nobody has compiled yet."""
    found: dict[Any, str] = {}
    for text in dict.fromkeys(policies):
        runner = CompiledRunner(as_policy(text), defiers(), 1, np.array([1]), 1)
        if not runner.is_ready():
            found.setdefault(runner.composition, text)
    return list(found.values())


def _compile(policies: Iterable[str]) -> subprocess.Popen[bytes]:
    options = [option for policy in policies for option in ("--policy", policy)]
    command = [
        sys.executable,
        "-m",
        "adhere",
        "simulate",
        "--population",
        "defiers",
        "--patients",
        "1",
        "--runs",
        "1",
    ]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
