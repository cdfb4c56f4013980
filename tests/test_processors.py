"""The number of processors that this process may use."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import adhere
from adhere.processors import usable_processors
from adhere.simulation.execution.workers import check_workers

MANY = 64


def files(root: Path, contents: dict[str, str]) -> Path:
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return root


V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/cpu,cpuacct"
PERIOD, QUOTA = "cpu.cfs_period_us", "cpu.cfs_quota_us"


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param({}, MANY, id="no control groups"),
        pytest.param({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "max 100000\n"}, MANY, id="no limit"),
        pytest.param({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "300000 100000\n"}, 3, id="three"),
        pytest.param({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "150000 100000\n"}, 2, id="one and a half"),
        pytest.param({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "5000 100000\n"}, 1, id="a twentieth"),
        pytest.param({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "9900000 100000\n"}, MANY, id="99 of 64"),
        pytest.param(
            {
                "proc/self/cgroup": "0::/kube/pod/main\n",
                f"{V2}/kube/pod/cpu.max": "200000 100000\n",
                f"{V2}/kube/pod/main/cpu.max": "max 100000\n",
            },
            2,
            id="a parent's limit",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/docker/e3b0\n", f"{V2}/cpu.max": "400000 100000\n"},
            4,
            id="path of the host",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/\n", f"{V2}/unified/cpu.max": "500000 100000\n"}, 5, id="beside version 1"
        ),
        pytest.param(
            {
                "proc/self/cgroup": "5:memory:/m\n4:cpu,cpuacct:/batch\n0::/\n",
                f"{V1}/batch/{QUOTA}": "250000\n",
                f"{V1}/batch/{PERIOD}": "100000\n",
                f"{V1}/{QUOTA}": "-1\n",
                f"{V1}/{PERIOD}": "100000\n",
            },
            3,
            id="version 1",
        ),
        pytest.param(
            {"proc/self/cgroup": "1:cpu:/\n", f"{V2}/cpu/{QUOTA}": "-1\n", f"{V2}/cpu/{PERIOD}": "100000\n"},
            MANY,
            id="version 1 without a limit",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "nonsense\n"}, MANY, id="a file that says nothing"
        ),
    ],
)
def test_limits_of_control_groups_count(
    contents: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(MANY)), raising=False)
    assert usable_processors(files(tmp_path, contents)) == expected


def test_without_affinity_all_processors_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for n_processors, expected in ((8, 8), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda n=n_processors: n)
        assert usable_processors(tmp_path) == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_affinity_counts() -> None:
    """In a process of its own, which is bound to one processor."""
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from adhere.processors import usable_processors; print(usable_processors())"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "1\n"


def test_simulations_use_as_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adhere.simulation.execution.workers.usable_processors", lambda: 5)
    assert check_workers(None, "cpu", None) == 5


def test_nothing_else_counts_processors() -> None:
    """`os.cpu_count` also counts processors that this process may not use; `adhere doctor` says both."""
    package = Path(adhere.__file__).parent
    counts = re.compile(r"\bcpu_count\b|sched_getaffinity|process_cpu_count")
    found = {str(file.relative_to(package)) for file in package.rglob("*.py") if counts.search(file.read_text())}
    assert found == {"processors.py", "cli/doctor.py"}
