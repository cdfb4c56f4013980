"""Storage of compiled kernels between runs.

Numba's own disk cache only checks the kernel's file, so a policy edited elsewhere would run old code. Here the name
of a folder is derived from the contents of all sources of a loop and of the composition it is compiled for. An edit
of any source leads to another folder.
"""

import errno
import hashlib
import os
import shutil
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np
import platformdirs
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

from adhere.compilation.sources import fingerprint, noted_digest

Result = TypeVar("Result")
_KEPT_FOLDERS = 192  # one version of all sources has about ten folders, one version of a user's policy two or three
_TABLES: Final = "tables"
# Settings of Numba (NUMBA_BOUNDSCHECK=1 and so on) that change the generated code. Processors and their features are
# part of Numba's own key.
_FLAGS: Final = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "DISABLE_INTEL_SVML",
    "ENABLE_PROFILING",
    "DEBUG_NRT",
    "NRT_STATS",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
    "CUDA_DEBUGINFO_DEFAULT",
)
_FOR_NOW: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def cache_folder(classes: frozenset[type], module: str) -> Path | None:
    """Return the folder for the loops of a module, compiled for these classes.

    Return None if a class has no file, or if no folder can be written.
    """
    return folder_of(classes, module, tuple(getattr(config, name, None) for name in _FLAGS))


@cache
def folder_of(classes: frozenset[type], module: str, flags: tuple[Any, ...]) -> Path | None:
    """Do the same as `cache_folder`, for these values of Numba's flags."""
    sources = fingerprint(classes, module)
    if sources is None:
        return None
    stamp = f"{sources} {sys.version} {numba.__version__} {np.__version__} {flags}"
    name = hashlib.sha256(stamp.encode()).hexdigest()[:24]
    return next((root / name for root in _cache_roots() if _usable(root / name)), None)


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("ADHERE_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    package = Path(__file__).parent.parent
    return [package / "__pycache__" / "kernels", Path(platformdirs.user_cache_dir("adhere")) / "kernels"]


def cache_root() -> Path | None:
    """Return the folder of all compiled code, or None if no folder can be written."""
    return next((root for root in _cache_roots() if _writable(root)), None)


def table_folder() -> Path | None:
    """Return the folder of tables that took long to compute, or None if no folder can be written."""
    root = cache_root()
    return None if root is None else root / _TABLES


def _writable(root: Path) -> bool:
    existing = next(path for path in (root, *root.absolute().parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    with suppress(OSError):
        folder.touch()  # marks the latest use, for pruning
        _prune(folder.parent, keep=folder)
    return os.access(folder, os.W_OK)


def _prune(root: Path, keep: Path) -> None:
    """Delete the least recently used folders, since every edit of a source leaves one behind."""
    others = (path for path in root.iterdir() if path != keep and path.name != _TABLES)
    folders = sorted(others, key=lambda path: path.stat().st_mtime)
    for folder in folders[: max(0, len(folders) + 1 - _KEPT_FOLDERS)]:
        shutil.rmtree(folder, ignore_errors=True)


class _TolerantFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Files of compiled code and Numba's index of them; unreadable files count as missing.

    Files that cannot be read cost a compilation, but never stop a run. Code is written under a unique name before the
    index refers to it. An index therefore never refers to code that is missing, incomplete or from another process.
    """

    def load(self, key: Any) -> Any:
        name = self._load_index().get(key)
        return None if name is None else _read(lambda: self._load_data(name), None)

    def save(self, key: Any, data: Any) -> None:
        name = self._data_name(uuid.uuid4().int)
        self._save_data(name, data)
        index = self._load_index()
        self._save_index(index | {key: name})
        if key in index:  # its code could not be read
            with suppress(OSError):
                Path(self._data_path(index[key])).unlink()

    def _load_index(self) -> dict[Any, str]:
        return _read(super()._load_index, {})


def _read(work: Callable[[], Result], otherwise: Result) -> Result:
    """Return the result of reading, or `otherwise` if a file is missing or damaged."""
    try:
        return work()
    except OSError as error:
        if error.errno in _FOR_NOW:  # the file may be intact, and compiling would cost more than trying again
            raise
        return otherwise
    except MemoryError:
        raise
    except Exception:
        return otherwise


def locator_in(folder: Path, function: Callable[..., Any], base: Any = _CacheLocator) -> Any:
    """Return a locator for the disk cache of Numba or numba-cuda; the folder's path already depends on the
    sources.
    """

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


def cache_in(folder: Path, function: Callable[..., Any], calls_only_c: bool) -> FunctionCache:
    """Return Numba's disk cache, stored in our own folder.

    With `calls_only_c`, the code calls only functions of the C library and of Python, and none of Numba's others.
    """

    class Implementation(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (locator_in(folder, function),)

    class Cache(FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def __init__(self, py_func: Any) -> None:
            super().__init__(py_func)
            self._cache_file.__class__ = _TolerantFiles

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            if not calls_only_c:
                return super().load_overload(sig, target_context)
            # Otherwise Numba would first import everything it can compile, including SciPy if it is installed, which
            # takes half of a start. That defines the functions that code calls by name, but those of C and Python are
            # defined already.
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            return _read(lambda: super(Cache, self)._load_overload(sig, target_context), None)

        def _save_overload(self, sig: Any, data: Any) -> None:
            # If the disk is full or cannot be written, the next process compiles again; this process has the code.
            with suppress(OSError):
                super()._save_overload(sig, data)

        def holds(self, signature: tuple[Any, ...], codegen: Any) -> bool:
            return self._index_key(signature, codegen) in self._cache_file._load_index()

    return Cache(function)


def note_checked(module: str) -> None:
    """Record that the policies in the present version of a module's file have passed their check."""
    if (mark := _mark(module)) is not None:
        with suppress(OSError):  # otherwise the next simulation warns again that it was not checked
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def is_checked(module: str) -> bool:
    """Return whether the policies in the present version of a module's file have passed their check."""
    mark = _mark(module)
    return mark is not None and mark.exists()


def _mark(module: str) -> Path | None:
    root, digest = cache_root(), noted_digest(module)
    return root / "checked" / digest if root is not None and digest is not None else None
