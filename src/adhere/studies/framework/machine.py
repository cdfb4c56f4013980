"""What a report says of the machine it was made on."""

from __future__ import annotations

import platform
from pathlib import Path

from adhere.processors import usable_processors


def machine() -> str:
    """Processor, cores, operating system and the versions that numbers may depend on.

    >>> "Python" in machine()
    True
    """
    import numba
    import numpy

    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}, Numba {numba.__version__}"
    return f"{_processor()}, {usable_processors()} cores, {platform.system()}; {versions}"


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()
