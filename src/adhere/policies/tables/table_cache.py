"""Large tables that policies look things up in: computed once, kept on disk, mapped into memory afterwards.

They lie beside the compiled kernels, in the folder `tables` of the cache. A file is an array as NumPy saves it with
its CRC-32 behind it; one that is damaged, cut short or of another shape is computed again.
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
_MAX_KEPT_BYTES = 8 * 10**9  # of all tables; those longest unused go first
_log = logging.getLogger("adhere")
_in_memory: WeakValueDictionary[str, Any] = WeakValueDictionary()  # tables that some rule holds, by file name
_announce: ContextVar[Callable[[str], None]] = ContextVar("announce", default=_log.info)
_postponed: ContextVar[list[str] | None] = ContextVar("postponed", default=None)


@dataclass(frozen=True)
class KeptTable:
    """What a table is, and how to compute it.

    Parameters
    ----------
    name, numbers, version
        What tells it apart: whose table it is, the numbers that it depends on, and the version of its algorithm, to
        be raised when the same numbers give another table.
    title
        What it is called in messages, in the plural: "the optimal decisions for 500 patients".
    shape, dtype
        Of the array.
    working_bytes
        How much memory computing takes at its peak, the table included.
    compute
        Makes the array.

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
        """By which it is found again."""
        return "-".join([self.name, *map(str, self.numbers), f"v{self.version}.npy"])

    def array(self) -> Array:
        """The table, read-only: from memory, from disk, or computed.

        Raises an `InputError` if there is too little memory to compute it. While `postponing`, an empty array of the
        same type stands for it.
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
                    if (kept := self._load(file)) is not None:  # another process was at it
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
        """What is in a file; None if it is missing or not what was written."""
        try:
            if not _is_whole(file):
                return None
            # As NumPy's own class: a memory map of its derived one has another type for the compiler.
            array = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError):
            return None
        if array.shape != self.shape or array.dtype != self.dtype:
            return None
        with suppress(OSError):
            file.touch()  # the latest use, for the pruning
        return array


def _is_whole(file: Path) -> bool:
    n_bytes = file.stat().st_size - _CHECKSUM_BYTES
    with file.open("rb") as content:
        checksum = _checksum(content, n_bytes)
        return n_bytes > 0 and checksum == int.from_bytes(content.read(), "little")


def _checksum(content: BinaryIO, n_bytes: int) -> int:
    """Of the next bytes, read piece by piece: mapped, a table would take its size of memory once more."""
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
    """Remove the tables longest unused, where all together take too much of the disk."""
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
    """Let tables be empty for now, for whoever wants to know only what a policy's rule is made of.

    The titles of those that were asked for are in the list.
    """
    later: list[str] = []
    token = _postponed.set(later)
    try:
        yield later
    finally:
        _postponed.reset(token)


@contextmanager
def announcing(announce: Callable[[str], None]) -> Iterator[None]:
    """Say there what is computed, instead of writing it to the log."""
    token = _announce.set(announce)
    try:
        yield
    finally:
        _announce.reset(token)
