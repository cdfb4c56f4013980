"""Compile a composition of policies once, keep it on disk, and never run code older than its source.

A policy's compiled form is a nested NamedTuple whose *type* spells the composition; Numba specialises the
generic functions by that type. Numba's own disk cache looks only at the kernel's file, so a policy edited
elsewhere would run stale. Here every kernel gets a cache folder named by the contents of all sources its
composition uses: edit any of them and the folder is another one.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.errors import NumbaRuntimeError
from numba.extending import overload, register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])
# Small functions disappear into the kernel; wrappers to call each of them from C would only cost time.
_OPTIONS = {"forceinline": True, "no_cfunc_wrapper": True}
_implemented: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}
_KEPT_FOLDERS = 64


def helper(function: Function) -> Function:
    """Let compiled code call a plain function."""
    register_jitable(**_OPTIONS)(function)
    return function


def specialise(generic: Callable[..., Any], pick: Callable[..., Any]) -> None:
    """Let `pick` say, from the types of the arguments, which function compiled code runs for `generic`."""
    overload(generic, target="generic", strict=False, jit_options=_OPTIONS)(pick)


def implements(generic: Callable[..., Any], owner: type) -> Callable[[Function], Function]:
    """Register the decorated function as `generic`'s implementation for a class of rules or of policies."""
    if generic not in _implemented:
        known = _implemented[generic] = {}
        specialise(generic, lambda rule, *_: known.get(getattr(rule, "instance_class", type(None))))

    def register(function: Function) -> Function:
        _implemented[generic][getattr(owner, "rule_class", owner)] = function
        return function

    return register


def is_implemented(generic: Callable[..., Any], rule_class: type) -> bool:
    """Whether a class of rules has its own implementation of a generic function."""
    return rule_class in _implemented.get(generic, {})


class Kernel:
    """A function to be compiled for compositions of rules: one dispatcher, and one folder, for each.

    Numba's cache may mix up entries when two processes write different ones into one index at once, so no
    two compositions share an index.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._dispatchers: dict[tuple[Any, bool], Any] = {}

    def ready(self, rule: Any, *arguments: Any) -> bool:
        """Whether a call would start at once, from memory or from disk."""
        return any(_is_ready(self._of(rule, allocates), rule, *arguments) for allocates in (False, True))

    def compiled(self, rule: Any, *arguments: Any) -> Any:
        """The function compiled for this composition and these types of arguments."""
        signature = tuple(numba.typeof(argument) for argument in (rule, *arguments))
        for allocates in (False, True):
            dispatcher = self._of(rule, allocates)
            try:
                with _without_garbage_collection():
                    dispatcher.compile(signature)
            except NumbaRuntimeError:  # a user's policy makes arrays of its own: compile with memory for them
                continue
            break
        return dispatcher

    def _of(self, rule: Any, allocates: bool) -> Any:
        composition = numba.typeof(rule)
        if (composition, allocates) not in self._dispatchers:
            # Without Numba's run-time memory, passing arrays around costs no atomic reference counts, which
            # several threads would fight over.
            dispatcher = numba.njit(nogil=True, error_model="numpy", _nrt=allocates)(self._function)
            folder = cache_folder(frozenset(classes_of(rule)))
            if folder is not None:
                name = hashlib.sha256(repr((composition.key, allocates)).encode()).hexdigest()[:16]
                dispatcher._cache = _cache_in(folder / f"{self._function.__name__}-{name}", self._function)
            self._dispatchers[composition, allocates] = dispatcher
        return self._dispatchers[composition, allocates]


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Numba makes and keeps very many objects; looking through them costs a fifth of a compilation."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def classes_of(rule: Any) -> set[type]:
    """Every NamedTuple class in a nested rule."""
    if not isinstance(rule, tuple):
        return set()
    own = {type(rule)} if hasattr(rule, "_fields") else set()
    return own.union(*(classes_of(part) for part in rule))


def _is_ready(dispatcher: Any, *arguments: Any) -> bool:
    signature = tuple(numba.typeof(argument) for argument in arguments)
    if signature in dispatcher.overloads:
        return True
    stored = dispatcher._cache
    if not isinstance(stored, FunctionCache):
        return False
    return stored._index_key(signature, dispatcher.targetctx.codegen()) in stored._cache_file._load_index()


@cache
def cache_folder(classes: frozenset[type]) -> Path | None:
    """Where code compiled from these classes is kept, or None if they have no file (a notebook's do not)."""
    sources = _sources(classes)
    if sources is None:
        return None
    digest = hashlib.sha256(f"{sys.version} {numba.__version__} {np.__version__}".encode())
    for path in sources:
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    for root in _cache_roots():
        folder = root / digest.hexdigest()[:24]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            folder.touch()  # newest use last, for the pruning below
            if not os.access(folder, os.W_OK):
                continue
        except OSError:
            continue
        _prune(root, keep=folder)
        return folder
    return None


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("ADHERE_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    return [
        Path(__file__).parent / "__pycache__" / "kernels",
        Path(platformdirs.user_cache_dir("adhere")) / "kernels",
    ]


def _prune(root: Path, keep: Path) -> None:
    """Remove the folders longest unused: every edit of a source leaves one behind."""
    folders = sorted((path for path in root.iterdir() if path != keep), key=lambda path: path.stat().st_mtime)
    for folder in folders[: max(0, len(folders) + 1 - _KEPT_FOLDERS)]:
        shutil.rmtree(folder, ignore_errors=True)


def _sources(classes: frozenset[type]) -> list[Path] | None:
    """Every source file compiled code of these classes may come from; None if a class has no file."""
    files: set[Path] = set(Path(__file__).parent.glob("*.py"))
    for part in ("policies", "simulation", "trial"):
        files.update((Path(__file__).parent / part).glob("*.py"))
    for rule_class in classes:
        module = sys.modules.get(rule_class.__module__)
        file = getattr(module, "__file__", None)
        if file is None or rule_class.__module__ == "__main__" or not Path(file).is_file():
            return None
        package = rule_class.__module__.partition(".")[0]
        if package != "adhere":
            files.add(Path(file))
            files.update(_local_modules(package))
    return sorted(files)


def _local_modules(package: str) -> set[Path]:
    """Loaded modules a user's policy may lean on: its own package's, and all that are not installed."""
    installed = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or not file.endswith(".py") or name.partition(".")[0] == "adhere":
            continue
        if name.partition(".")[0] == package or not file.startswith(installed):
            found.add(Path(file))
    return {path for path in found if path.is_file()}


def _cache_in(folder: Path, function: Callable[..., Any]) -> FunctionCache:
    """Numba's disk cache, kept in a folder whose path already vouches for the sources."""

    class Locator(_CacheLocator):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return folder.parent.name

        def get_disambiguator(self) -> str:
            return function.__module__

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

    class Implementation(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class Cache(FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super()._load_overload(sig, target_context)
            except Exception:  # a damaged file must cost a compilation, never a run
                return None

    return Cache(function)
