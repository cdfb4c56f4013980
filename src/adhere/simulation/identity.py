"""Which adhere this is: the same numbers come only from the same code."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numba
import numpy as np


@cache
def sources_digest() -> str:
    """A digest of adhere's own code, so that figures of older code are not taken for those of newer code."""
    digest = hashlib.sha256()
    package = Path(str(files("adhere")))
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".csv"):
            digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def identity() -> dict[str, str]:
    """Everything installed that decides the last bit of a result."""
    return {
        "adhere": version("adhere"),
        "adhere's sources": sources_digest(),
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """What differs between two identities, in words; empty if nothing does.

    >>> differences({"adhere": "1.0", "numba": "0.68.0"}, {"adhere": "1.1", "numba": "0.68.0"})
    'adhere 1.0, not 1.1'
    """
    return ", ".join(f"{name} {theirs.get(name)}, not {own}" for name, own in ours.items() if theirs.get(name) != own)
