"""The number of processors that this process may use, which a container or `taskset` may limit."""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_ROOT = Path("/")


def usable_processors(root: Path = _ROOT) -> int:
    """Return how many processors this process may use, at least 1.

    It is the number of processors that the process may be scheduled on, or fewer if a Linux control group (version 1
    or 2), e.g. that of a container, grants less processor time. A fraction of a processor is rounded up.

    Parameters
    ----------
    root
        The folder that contains `proc` and `sys`.

    """
    n_scheduled = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([n_scheduled, *map(math.ceil, _quotas(root))]))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the processors that each control group of this process grants, and those of parent groups, if limited."""
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            parts = Path(path.lstrip("/")).parts
            if not controllers:
                mounts, read = ("", "unified"), _quota_of_version_2
            elif "cpu" in controllers.split(","):
                mounts, read = (controllers, "cpu"), _quota_of_version_1
            else:
                continue
            for mount in mounts:
                # Inside a container the path may be the host's, and only its last folder is mounted.
                for depth in range(len(parts) + 1):
                    with suppress(OSError, ValueError, ZeroDivisionError):
                        yield read((root / "sys/fs/cgroup" / mount).joinpath(*parts[:depth]))


def _quota_of_version_2(group: Path) -> float:
    """Read `cpu.max`; if it contains "max" instead of a number, raise a `ValueError`."""
    quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
    return int(quota) / int(period)


def _quota_of_version_1(group: Path) -> float:
    quota, period = (
        int((group / name).read_text(encoding="ascii")) for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    )
    if quota < 0:
        raise ValueError("this group has no limit")
    return quota / period
