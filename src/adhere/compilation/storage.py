"""Where compiled kernels are kept between runs.

Numba's own disk cache looks only at the kernel's file, so a policy edited elsewhere would run stale. Here the
folder is named by the contents of all sources a composition uses: edit any of them and it is another one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

from adhere.compilation.sources import fingerprint

_KEPT_FOLDERS = 64


@cache
def cache_folder(classes: frozenset[type]) -> Path | None:
    """Where code compiled from these classes is kept; None if they have no file or nowhere can be written."""
    sources = fingerprint(classes)
    if sources is None:
        return None
    stamp = f"{sources} {sys.version} {numba.__version__} {np.__version__}"
    name = hashlib.sha256(stamp.encode()).hexdigest()[:24]
    return next((root / name for root in _cache_roots() if _usable(root / name)), None)


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("ADHERE_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    package = Path(__file__).parent.parent
    return [package / "__pycache__" / "kernels", Path(platformdirs.user_cache_dir("adhere")) / "kernels"]


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()  # the latest use, for the pruning
        _prune(folder.parent, keep=folder)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _prune(root: Path, keep: Path) -> None:
    """Remove the folders longest unused: every edit of a source leaves one behind."""
    folders = sorted((path for path in root.iterdir() if path != keep), key=lambda path: path.stat().st_mtime)
    for folder in folders[: max(0, len(folders) + 1 - _KEPT_FOLDERS)]:
        shutil.rmtree(folder, ignore_errors=True)


class _TolerantIndex(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index of compiled code; one that cannot be read counts as empty."""

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except Exception:  # a damaged file must cost a compilation, never a run
            return {}


def locator_in(folder: Path, function: Callable[..., Any], base: Any = _CacheLocator) -> Any:
    """What tells Numba's disk cache, or numba-cuda's own, of a folder whose path already vouches for the sources."""

    class Locator(base):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return folder.parent.name

        def get_disambiguator(self) -> str:
            return function.__module__

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

    return Locator


def cache_in(folder: Path, function: Callable[..., Any]) -> FunctionCache:
    """Numba's disk cache, kept in a folder of ours."""

    class Implementation(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (locator_in(folder, function),)

    class Cache(FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def __init__(self, py_func: Any) -> None:
            super().__init__(py_func)
            self._cache_file.__class__ = _TolerantIndex

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super()._load_overload(sig, target_context)
            except Exception:  # as above
                return None

        def holds(self, signature: tuple[Any, ...], codegen: Any) -> bool:
            return self._index_key(signature, codegen) in self._cache_file._load_index()

    return Cache(function)
