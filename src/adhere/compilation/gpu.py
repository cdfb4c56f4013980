"""CUDA kernels, compiled once for each composition of rules and stored on disk like those for processors.

Imported only if a GPU is used. With NUMBA_ENABLE_CUDASIM=1, Numba's simulator runs the kernels in Python.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, types

if not hasattr(np, "row_stack"):  # numba-cuda uses it, but NumPy 2.5 removed it
    setattr(np, "row_stack", np.vstack)  # noqa: B010

from numba import cuda
from numba.core.errors import NumbaError

from adhere.compilation.compile_errors import as_compile_error
from adhere.compilation.kernel import classes_of
from adhere.compilation.sources import note_imported
from adhere.compilation.static import static_type
from adhere.compilation.storage import cache_folder, locator_in
from adhere.errors import CompileError

__all__ = ["SIMULATED", "GpuKernel", "cuda", "why_no_gpu"]

# With more registers, a multiprocessor would have too few threads to switch between. With fewer, the state would not
# fit.
_REGISTERS_OF_LEARNERS, _REGISTERS_OF_HYBRIDS = 80, 96
SIMULATED = bool(config.ENABLE_CUDASIM)
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a study with few runs is small, which is fine


def why_no_gpu() -> str | None:
    """Return why a GPU cannot be used here, or None if it can."""
    if SIMULATED:
        return None
    if find_spec("numba_cuda") is None:
        return "the extra `gpu` is not installed: pip install 'adhere[gpu]'"
    if not cuda.is_available():
        return "no CUDA GPU was found, or its driver cannot be used"
    return None


class GpuKernel:
    """A function that is compiled for compositions of rules and launched with a number of threads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self.module = function, function.__module__
        note_imported(self.module)
        self._dispatchers: dict[Any, Any] = {}

    def ready(self, rule: Any, *arguments: Any) -> bool:
        """Return whether a launch would start at once, with code from memory or disk."""
        if SIMULATED:
            return True
        signature = _signature(rule, *arguments)
        dispatcher = self._of(signature, rule)
        holds = getattr(dispatcher._cache, "holds", None)
        return bool(dispatcher.overloads) or (holds is not None and holds(signature, dispatcher.targetctx.codegen()))

    def compiled(self, rule: Any, *arguments: Any) -> Any:
        """Return the kernel for this composition; launch it by kernel[blocks, threads, stream](*arguments)."""
        if SIMULATED:
            return cuda.jit(self._function)
        signature = _signature(rule, *arguments)
        dispatcher = self._of(signature, rule)
        try:
            with _as_on_processors():
                kernel = dispatcher.compile(signature)
            kernel.bind()  # in one thread, since loads from several threads would collide
        except NumbaError as error:
            mistake = as_compile_error(error, classes_of(rule))
            assert mistake is not None
            raise CompileError(mistake.field, f"{mistake.expected} (compiling for CUDA)") from None
        dispatcher._specialized = True  # Numba's dispatch by argument types would not see static values
        return dispatcher

    def _of(self, signature: tuple[Any, ...], rule: Any) -> Any:
        if signature not in self._dispatchers:
            classes = classes_of(rule)
            registers = _REGISTERS_OF_LEARNERS if len(classes) == 1 else _REGISTERS_OF_HYBRIDS
            dispatcher = cuda.jit(self._function, extensions=[_StaticNumbers()], max_registers=registers)
            folder = cache_folder(frozenset(classes), self.module)
            if folder is not None:
                name = hashlib.sha256(repr(signature).encode()).hexdigest()[:16]
                dispatcher._cache = _cache_in(folder / f"{self._function.__name__}-{name}", self._function)
            self._dispatchers[signature] = dispatcher
        return self._dispatchers[signature]


def _signature(*arguments: Any) -> tuple[Any, ...]:
    return tuple(static_type(argument) for argument in arguments)


class _StaticNumbers:
    """Extension that tells Numba's launch what to pass for a number that is part of a type; any value works."""

    def prepare_args(self, ty: Any, val: Any, **_: Any) -> tuple[Any, Any]:
        if isinstance(ty, types.BooleanLiteral):
            return types.boolean, val
        return (types.int64, val) if isinstance(ty, types.IntegerLiteral) else (ty, val)


@contextmanager
def _as_on_processors() -> Iterator[None]:
    """Compile with every number rounded as on processors, and with tables in global memory.

    By default a product and a sum become one operation that rounds once. Tables used by code would be placed in
    constant memory, which is small, and slow if threads read different addresses.
    """
    from numba.cuda.cudadrv import nvvm

    compile_ir, constant = nvvm.compile_ir, nvvm.ADDRSPACE_CONSTANT
    nvvm.compile_ir, nvvm.ADDRSPACE_CONSTANT = partial(compile_ir, fma=False), nvvm.ADDRSPACE_GLOBAL
    try:
        yield
    finally:
        nvvm.compile_ir, nvvm.ADDRSPACE_CONSTANT = compile_ir, constant


def _cache_in(folder: Path, function: Callable[..., Any]) -> Any:
    """Return numba-cuda's disk cache, stored in our own folder."""
    caching, dispatcher = import_module("numba.cuda.core.caching"), import_module("numba.cuda.dispatcher")

    class Implementation(dispatcher.CUDACacheImpl):  # type: ignore[misc,name-defined]
        _locator_classes = (locator_in(folder, function, caching._CacheLocator),)

    class Cache(dispatcher.CUDACache):  # type: ignore[misc,name-defined]
        _impl_class = Implementation

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # a damaged file may cost a compilation, but must never stop a run
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            with suppress(OSError):  # if the disk cannot be written, the next process compiles again
                super().save_overload(sig, data)

        def holds(self, signature: tuple[Any, ...], codegen: Any) -> bool:
            try:
                return self._index_key(signature, codegen) in self._cache_file._load_index()
            except Exception:  # for the same reason
                return False

    return Cache(function)
