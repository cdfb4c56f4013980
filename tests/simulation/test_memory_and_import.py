"""What may not grow: memory with the number of runs, and the time an import takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adhere
from adhere.cli.main import COMMANDS

HEAVY = ("polars", "pandas", "matplotlib", "rich", "typer", "fastapi", "dask", "distributed", "cloudpickle")


def printed_by(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def peak_memory(n_runs: int) -> float:
    """Peak resident megabytes of a process that simulates so many runs of 10 patients."""
    # Linux counts in kilobytes, macOS in bytes.
    return float(
        printed_by(f"""
import resource, sys, adhere
adhere.simulate("thompson", "stroke-heparin", n_patients=10, n_runs={n_runs}, n_threads=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))
""")
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read with getrusage, which Windows lacks")
def test_ten_times_the_runs_take_the_same_memory() -> None:
    peak_memory(20)  # compiles, if need be: a compiler takes memory too
    few, many = peak_memory(20_000), peak_memory(200_000)
    # Keeping 8 bytes for each run and measure along the grid would take 180,000 × 80 × 8 B = 115 MB.
    assert many < few + 10.0


def test_import_is_light() -> None:
    """Every public name included, as they are loaded when first used."""
    program = "import sys, adhere; [getattr(adhere, name) for name in adhere.__all__]; print(*sys.modules)"
    loaded = printed_by(program).split()
    assert not [name for name in loaded if name.partition(".")[0] in HEAVY]


def test_help_waits_for_no_compiler_no_arrays_and_no_command() -> None:
    loaded = set(printed_by("import sys, adhere.cli.main; adhere.cli.main.main(['-h']); print(*sys.modules)").split())
    assert not {"numpy", "numba", "polars", "rich", "pydantic"} & loaded
    assert {name for name in loaded if name.startswith("adhere.")} == {
        *("adhere.cli", "adhere.cli.main", "adhere.cli.options", "adhere.errors")
    }


def test_a_cached_policy_waits_for_no_compiler_and_no_other_command() -> None:
    """Numba itself must be there; what it needs to compile, or SciPy where it is installed, need not."""
    adhere.simulate("thompson", "defiers", n_patients=10, n_runs=2)
    program = """
import sys
from adhere.cli.main import main
assert main("simulate --population defiers --policy thompson --runs 2 --patients 10".split()) == 0
print(*sys.modules)
"""
    loaded = set(printed_by(program).splitlines()[-1].split())
    assert not {"numba.np.arrayobj", "numba.cpython.unicode", "scipy.linalg", "polars", "rich"} & loaded
    parts = {name.split(".")[1] for name in loaded if name.startswith("adhere.")}
    assert not {"client", "contract", "service", "store", "studies", "trial"} & parts
    assert "adhere.simulation.execution.executor" not in loaded
    assert not {f"adhere.cli.{command}" for command in COMMANDS} - {"adhere.cli.simulate"} & loaded


def test_import_is_quick() -> None:
    """Beyond NumPy and Numba; in processor time, and once out of several, as other processes disturb."""
    program = """
import time, numpy, numba
start = time.process_time()
import adhere
adhere.simulate
print(time.process_time() - start)
"""
    assert any(float(printed_by(program)) < 0.3 for _ in range(4))
