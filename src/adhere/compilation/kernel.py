"""Functions that are compiled for each composition of rules."""

import gc
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import config
from numba.core.caching import NullCache
from numba.core.errors import NumbaError

from adhere.compilation.compile_errors import as_compile_error
from adhere.compilation.sources import note_imported
from adhere.compilation.static import type_for
from adhere.compilation.storage import cache_folder, cache_in
from adhere.errors import CompileError, UnavailableError
from adhere.memory import check_room

_ROOM_TO_LOAD = 48 << 20  # bytes of address space; loading code from disk takes about 10 MB
_ROOM_TO_COMPILE = 256 << 20  # compiling takes about 200 MB, and keeps less


class Kernel:
    """A function that is compiled for compositions of rules, with one dispatcher and one folder for each composition.

    A `static` kernel is also compiled for the whole numbers in its named tuples, unless there are many arms (see
    `static`). Static kernels are faster, but more of them are needed. Numba's cache may mix up entries if two
    processes write different entries into one index at the same time, so no two compositions share an index.
    """

    def __init__(self, function: Callable[..., Any], static: bool = False) -> None:
        self._function, self.module = function, function.__module__
        note_imported(self.module)
        self._type_for = type_for if static else lambda rule: numba.typeof
        self._dispatchers: dict[tuple[Any, bool], Any] = {}
        self._compiled: dict[tuple[Any, ...], Any] = {}

    def ready(self, rule: Any, *arguments: Any) -> bool:
        """Return whether a call would start at once, with code from memory or disk."""
        return bool(config.DISABLE_JIT) or any(self._is_ready(one, rule, *arguments) for one in (False, True))

    def compiled(self, rule: Any, *arguments: Any) -> Any:
        """Return the function compiled for this composition and these types of arguments.

        With NUMBA_DISABLE_JIT=1, e.g. for a debugger, return the function itself.
        """
        if config.DISABLE_JIT:
            return self._function
        signature = self._signature(rule, *arguments)
        if signature not in self._compiled:
            self._compiled[signature] = self._compile(signature, rule, *arguments)
        return self._compiled[signature]

    def why_it_allocates(self, rule: Any, *arguments: Any) -> CompileError | None:
        """Return the reason why the function needs run-time memory, or None if it does not."""
        try:
            self._of(rule, False).compile(self._signature(rule, *arguments))
        except NumbaError as error:
            return as_compile_error(error, classes_of(rule))
        return None

    def _compile(self, signature: tuple[Any, ...], rule: Any, *arguments: Any) -> Any:
        # If there is too little address space, LLVM ends the process.
        check_room(_ROOM_TO_LOAD if self.ready(rule, *arguments) else _ROOM_TO_COMPILE)
        # Most rules need no run-time memory. A user's policy that makes arrays is compiled with it.
        for allocates in (True,) if self._is_ready(True, rule, *arguments) else (False, True):
            dispatcher = self._of(rule, allocates)
            try:
                with without_garbage_collection():
                    # Called directly, since Numba's dispatch by argument types would not see static values.
                    return dispatcher.compile(signature)
            except Exception as error:
                if (cause := _cause_in_machine(error)) is not None:
                    raise cause from None
                mistake = as_compile_error(error, classes_of(rule))
                if mistake is None:  # loading does not run any of the policy's own code
                    raise UnavailableError(f"compiled code cannot be loaded ({type(error).__name__})") from error
                if allocates:
                    raise mistake from None
        raise AssertionError("one of the two ways compiles or raises")

    def _is_ready(self, allocates: bool, *arguments: Any) -> bool:
        dispatcher = self._of(arguments[0], allocates)
        signature = self._signature(*arguments)
        if signature in dispatcher.overloads:
            return True
        stored = dispatcher._cache
        return not isinstance(stored, NullCache) and stored.holds(signature, dispatcher.targetctx.codegen())

    def _signature(self, rule: Any, *arguments: Any) -> tuple[Any, ...]:
        type_of = self._type_for(rule)
        return tuple(type_of(argument) for argument in (rule, *arguments))

    def _of(self, rule: Any, allocates: bool) -> Any:
        composition = self._type_for(rule)(rule)
        if (composition, allocates) not in self._dispatchers:
            # Without Numba's run-time memory, passing arrays needs no atomic reference counts, for which several
            # threads would compete.
            dispatcher = numba.njit(nogil=True, error_model="numpy", _nrt=allocates, no_cfunc_wrapper=True)(
                self._function
            )
            classes = classes_of(rule)
            folder = cache_folder(frozenset(classes), self.module)
            if folder is not None:
                name = hashlib.sha256(repr((composition.key, allocates)).encode()).hexdigest()[:16]
                # Users may call anything, e.g. BLAS, for which Numba generates its own functions.
                calls_only_c = not allocates and all(one.__module__.startswith("adhere.") for one in classes)
                own = folder / f"{self._function.__name__}-{name}"
                dispatcher._cache = cache_in(own, self._function, calls_only_c)
            self._dispatchers[composition, allocates] = dispatcher
        return self._dispatchers[composition, allocates]


def _cause_in_machine(error: BaseException | None) -> Exception | None:
    """Return the OSError or MemoryError that Numba wrapped in another error, or None."""
    while error is not None:
        if isinstance(error, OSError | MemoryError):
            return error
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Turn off garbage collection in the block, where it would take a fifth of a compilation and find no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def classes_of(rule: Any) -> set[type]:
    """Return every NamedTuple class in a nested rule."""
    if not isinstance(rule, tuple):
        return set()
    own = {type(rule)} if hasattr(rule, "_fields") else set()
    return own.union(*(classes_of(part) for part in rule))
