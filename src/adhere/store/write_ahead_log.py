"""See that a write-ahead log is as SQLite left it: not cut off, not overwritten, nor another one copied over it.

SQLite looks at its index of the log (`-shm`) only, and would go on behind whatever is in the log by now; after a
crash none of it would be found. The index says how many frames there are, the checksum of the last one, and the salts
that all of them share: https://sqlite.org/walformat.html.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_VERSION = 3007000  # of the index, the same since there are logs
_INDEX = struct.Struct("=I10xHI4xII8s")  # version, page size, number of frames, checksum of the last, salts
_CHECKSUM = struct.Struct(">II")
_HEADER, _FRAME_HEADER, _SALTS = 32, 24, slice(16, 24)


class WriteAheadLog:
    """The log of an open database, looked at by the process that writes it, between its transactions.

    When the index is closed, the system drops all locks that SQLite has on it in this process: so this is closed only
    after the database.
    """

    def __init__(self, log: Path, index: Path) -> None:
        self._log = os.open(log, os.O_RDONLY)
        self._index = os.open(index, os.O_RDONLY)
        self._salts, self._at, self._frame = b"", 0, b""

    def is_whole(self) -> bool:
        """Whether its header, the frame that was the last at the last look, and the last one are there.

        What was written over other frames only is not seen.
        """
        try:
            version, page_size, n_frames, first, second, salts = _INDEX.unpack(os.pread(self._index, _INDEX.size, 0))
            if version != _VERSION or not n_frames:  # without frames all is in the database
                return True
            page_size = page_size & 0xFE00 | (page_size & 1) << 16
            at = _HEADER + (n_frames - 1) * (_FRAME_HEADER + page_size)
            frame = os.pread(self._log, _FRAME_HEADER, at)
            whole = (
                os.pread(self._log, _HEADER, 0)[_SALTS] == salts
                and frame[8:] == salts + _CHECKSUM.pack(first, second)
                and (salts != self._salts or os.pread(self._log, _FRAME_HEADER, self._at) == self._frame)
            )
        except (OSError, struct.error):
            return False
        self._salts, self._at, self._frame = salts, at, frame
        return whole

    def close(self) -> None:
        """Close it; the database must be closed already."""
        os.close(self._log)
        os.close(self._index)
