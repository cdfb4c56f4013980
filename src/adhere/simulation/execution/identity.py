"""Identity of the installed code, since only the same code gives the same numbers."""

import hashlib
import time
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numba
import numpy as np

_LOADED = time.time()


@cache
def sources_digest() -> str:
    """Return a digest of adhere's own code, so that results of different versions are not mixed up."""
    digest = hashlib.sha256()
    for path, name in _sources():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> list[tuple[Path, str]]:
    package = Path(str(files("adhere")))
    found = [path for path in package.rglob("*") if path.suffix in (".py", ".csv")]
    return [(path, str(path.relative_to(package))) for path in sorted(found)]


def _edited_since_loaded() -> bool:
    """Return whether the code in memory may be older than its source files."""
    return any(max(path.stat().st_mtime, path.stat().st_ctime) > _LOADED for path, _ in _sources())


def identity() -> dict[str, str]:
    """Return the versions of everything installed that affects results down to the last bit."""
    return {
        "adhere": version("adhere"),
        "adhere's sources": sources_digest() + (" edited after its start" if _edited_since_loaded() else ""),
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """Describe how two identities differ, or return "" if they do not.

    >>> differences({"adhere": "1.0", "numba": "0.68.0"}, {"adhere": "1.1", "numba": "0.68.0"})
    'adhere 1.0, not 1.1'
    """
    return ", ".join(f"{name} {theirs.get(name)}, not {own}" for name, own in ours.items() if theirs.get(name) != own)
