"""Lookup tables of policies: computed once, stored on disk, and mapped into memory afterwards.

They are stored beside the compiled kernels, in the folder `tables` of the cache. A file contains an array as NumPy
saves it, followed by its CRC-32. A file that is damaged, truncated or of another shape is computed again.
"""

import logging
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakValueDictionary

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from adhere.compilation.storage import table_folder
from adhere.errors import InputError
from adhere.files import replacing
from adhere.memory import available_memory, bytes_text

Array = NDArray[Any]
_CHECKSUM_BYTES = 4
_PIECE_BYTES = 1 << 20
_MAX_KEPT_BYTES = 8 * 10**9  # of all tables; the least recently used are deleted first
_log = logging.getLogger("adhere")
_in_memory: WeakValueDictionary[str, Any] = WeakValueDictionary()  # tables that a rule still uses, by file name
_announce: ContextVar[Callable[[str], None]] = ContextVar("announce", default=_log.info)
_postponed: ContextVar[list[str] | None] = ContextVar("postponed", default=None)


@dataclass(frozen=True)
class KeptTable:
    """A lookup table, and the function that computes it.

    Parameters
    ----------
    name, numbers, version
        Key of the table: its name, the numbers that it depends on, and the version of its algorithm. The version is
        raised if the same numbers give another table.
    title
        Name of the table in messages, in the plural: "the optimal decisions for 500 patients".
    shape, dtype
        Shape and type of the array.
    working_bytes
        Peak memory of the computation, in bytes, including the table.
    compute
        Function that computes the array.

    """

    name: str
    numbers: tuple[float, ...]
    version: int
    title: str
    shape: tuple[int, ...]
    dtype: Any
    working_bytes: int
    compute: Callable[[], Array]

    @property
    def file_name(self) -> str:
        """Name of the file that stores the table."""
        return "-".join([self.name, *map(str, self.numbers), f"v{self.version}.npy"])

    def array(self) -> Array:
        """Return the table, read-only: from memory, from disk, or computed.

        Raise an `InputError` if there is too little memory to compute it. Inside `postponing`, return an empty array
        of the same type instead.
        """
        if (later := _postponed.get()) is not None:
            folder = table_folder()
            if folder is None or not (folder / self.file_name).exists():
                self._check_memory()
            later.append(self.title)
            return _read_only(np.empty((0,) * len(self.shape), self.dtype))
        array = _in_memory.get(self.file_name)
        if array is None:
            array = _in_memory[self.file_name] = self._loaded_or_computed()
        return array

    def _loaded_or_computed(self) -> Array:
        folder, computed, reason = table_folder(), None, "no cache folder can be written"
        if folder is not None:
            file = folder / self.file_name
            if (kept := self._load(file)) is not None:
                return kept
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with FileLock(f"{file}.lock"):
                    if (kept := self._load(file)) is not None:  # another process computed it in the meantime
                        return kept
                    computed = self._computed("once; then kept on disk")
                    _save(file, computed)
                _prune(folder, file)
                kept = self._load(file)
                return computed if kept is None else kept
            except OSError as error:
                reason = error.strerror or str(error)
        warnings.warn(f"{self.title} are computed anew each time: {reason}", stacklevel=2)
        return self._computed("each time") if computed is None else computed

    def _computed(self, how_often: str) -> Array:
        self._check_memory()
        _announce.get()(f"computing {self.title} ({how_often})…")
        return _read_only(self.compute())

    def _check_memory(self) -> None:
        available = available_memory()
        if available is not None and self.working_bytes > available:
            sentence = (
                f"computing {self.title} takes {bytes_text(self.working_bytes)} of memory, and"
                f" {bytes_text(available)} are available"
            )
            raise InputError(self.name, self.title, "enough memory", sentence)

    def _load(self, file: Path) -> Array | None:
        """Return the table in a file, or None if the file is missing or damaged."""
        try:
            if not _is_whole(file):
                return None
            # As a plain array: the compiler treats NumPy's memory-map class as another type.
            array = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError):
            return None
        if array.shape != self.shape or array.dtype != self.dtype:
            return None
        with suppress(OSError):
            file.touch()  # marks the latest use, for pruning
        return array


def _is_whole(file: Path) -> bool:
    n_bytes = file.stat().st_size - _CHECKSUM_BYTES
    with file.open("rb") as content:
        checksum = _checksum(content, n_bytes)
        return n_bytes > 0 and checksum == int.from_bytes(content.read(), "little")


def _checksum(content: BinaryIO, n_bytes: int) -> int:
    """Return the CRC-32 of a file's next bytes, read in pieces, since mapping a table would double its memory."""
    checksum = 0
    for start in range(0, n_bytes, _PIECE_BYTES):
        checksum = zlib.crc32(content.read(min(_PIECE_BYTES, n_bytes - start)), checksum)
    return checksum


def _save(file: Path, array: Array) -> None:
    with replacing(file) as temporary:
        with temporary.open("wb") as begin:
            np.save(begin, array, allow_pickle=False)
        with temporary.open("r+b") as content:
            checksum = _checksum(content, temporary.stat().st_size)
            content.write(checksum.to_bytes(_CHECKSUM_BYTES, "little"))


def _prune(folder: Path, keep: Path) -> None:
    """Delete the least recently used tables if all together take too much disk space."""
    with suppress(OSError):
        others = [path for path in folder.glob("*.npy") if path != keep]
        total = keep.stat().st_size + sum(path.stat().st_size for path in others)
        for path in sorted(others, key=lambda path: path.stat().st_mtime):
            if total <= _MAX_KEPT_BYTES:
                return
            total -= path.stat().st_size
            path.unlink()


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


@contextmanager
def postponing() -> Iterator[list[str]]:
    """Return empty tables inside this context, for callers that only need the types in a policy's rule.

    The yielded list collects the titles of the tables that were requested.
    """
    later: list[str] = []
    token = _postponed.set(later)
    try:
        yield later
    finally:
        _postponed.reset(token)


@contextmanager
def announcing(announce: Callable[[str], None]) -> Iterator[None]:
    """Call `announce` for each table that is computed inside this context, instead of writing to the log."""
    token = _announce.set(announce)
    try:
        yield
    finally:
        _announce.reset(token)
