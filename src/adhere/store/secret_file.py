"""Store the secrets of trials in a separate file, so that a database and its dumps do not contain them."""

import os
import re
from pathlib import Path
from threading import Lock

import filelock

from adhere.errors import StoreError, StoreUnavailableError
from adhere.store.database_file import file_error

_LINE = re.compile(r"^([0-9a-f]{64}) ([0-9a-f]{64})$", re.MULTILINE)  # a commitment and its secret
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT
_OTHERS = 0o077


class SecretFile:
    """A file with one line per secret: the commitment and the secret, both in hexadecimal digits.

    Only its owner may read it (mode 0600). Lines are added and never changed. Several processes may share it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._known: dict[str, bytes] = {}
        self._turn = Lock()
        if not self.path.parent.is_dir():
            raise StoreError(
                f"the file of secrets {path} cannot be written: folder {self.path.parent} does not exist"
            )
        if self.path.is_dir():
            raise StoreError(f"the file of secrets {path} is a folder: give the name of a file in it")
        self._read()

    def find(self, commitment: str) -> bytes | None:
        """Return the secret of a commitment, or None. Another process may have added it."""
        with self._turn:
            if commitment not in self._known:
                self._read()
            return self._known.get(commitment)

    def add(self, commitment: str, secret: bytes) -> None:
        """Add a secret. It is on disk when this returns."""
        line = f"{commitment} {secret.hex()}\n".encode()
        try:
            with self._turn, filelock.FileLock(f"{self.path}.lock", mode=0o600):
                self._check_mode()
                file = os.open(self.path, _APPEND, 0o600)
                try:
                    if not _ends_in_newline(file):  # a line was cut off; do not append to it
                        line = b"\n" + line
                    if os.write(file, line) != len(line):
                        raise StoreUnavailableError(
                            f"the file of secrets {self.path} could not be written: the disk is full"
                        )
                    os.fsync(file)
                finally:
                    os.close(file)
                self._known[commitment] = secret
        except OSError as error:
            raise file_error(f"the file of secrets {self.path} cannot be written", error) from None

    def _read(self) -> None:
        try:
            if not self.path.exists():
                return
            self._check_mode()
            text = self.path.read_text("ascii")
        except OSError as error:
            raise file_error(f"the file of secrets {self.path} cannot be read", error) from None
        except UnicodeDecodeError:
            raise StoreError(f"the file of secrets {self.path} cannot be read: it is not text") from None
        # A line that a full disk cut off belongs to a failed transaction.
        self._known |= {commitment: bytes.fromhex(secret) for commitment, secret in _LINE.findall(text)}

    def _check_mode(self) -> None:
        if os.name == "posix" and self.path.exists() and self.path.stat().st_mode & _OTHERS:
            raise StoreError(f"the file of secrets {self.path} can be read by other users: run chmod 600 on it")


def _ends_in_newline(file: int) -> bool:
    """Return whether a file is empty or its last line is complete."""
    end = os.lseek(file, 0, os.SEEK_END)
    return end == 0 or os.pread(file, 1, end - 1) == b"\n"
