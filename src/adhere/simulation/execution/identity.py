"""Which adhere this is: the same numbers come only from the same code."""

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
    """A digest of adhere's own code, so that figures of older code are not taken for those of newer code."""
    digest = hashlib.sha256()
    for path, name in _sources():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> list[tuple[Path, str]]:
    package = Path(str(files("adhere")))
    found = [path for path in package.rglob("*") if path.suffix in (".py", ".csv")]
    return [(path, str(path.relative_to(package))) for path in sorted(found)]


def _edited_since_loaded() -> bool:
    """Whether the code in memory may be older than its sources."""
    return any(max(path.stat().st_mtime, path.stat().st_ctime) > _LOADED for path, _ in _sources())


def identity() -> dict[str, str]:
    """Everything installed that decides the last bit of a result."""
    return {
        "adhere": version("adhere"),
        "adhere's sources": sources_digest() + (" edited after its start" if _edited_since_loaded() else ""),
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """What differs between two identities, in words; empty if nothing does.

    >>> differences({"adhere": "1.0", "numba": "0.68.0"}, {"adhere": "1.1", "numba": "0.68.0"})
    'adhere 1.0, not 1.1'
    """
    return ", ".join(f"{name} {theirs.get(name)}, not {own}" for name, own in ours.items() if theirs.get(name) != own)
