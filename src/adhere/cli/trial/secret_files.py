"""The secrets of a trial in a file of their own, with which it goes on elsewhere. Only its owner may read it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from adhere.cli.destinations import check_file
from adhere.errors import InputError
from adhere.files import unreadable

OPTION = "--secrets"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # which follows no link either
_SECRET = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 1 << 20


def check_new(path: Path) -> None:
    """Refuse a file that is there already: a secret must never be lost under another, nor take its permissions."""
    if path.exists() or path.is_symlink():
        raise InputError(OPTION, str(path), "a new file; this one is there already")
    check_file(OPTION, path)


def write_secrets(path: Path, secrets: Sequence[bytes]) -> None:
    """Write secrets into a new file, one a line, private from the moment it exists."""
    try:
        with os.fdopen(os.open(path, _NEW, 0o600), "w", encoding="ascii") as file:
            file.writelines(f"{secret.hex()}\n" for secret in secrets)
    except FileExistsError:
        raise InputError(OPTION, str(path), "a new file; this one is there already") from None
    except OSError as error:
        with suppress(OSError):  # half a secret is of no use
            path.unlink(missing_ok=True)
        raise InputError(OPTION, str(path), f"a file that may be written ({error.strerror})") from None


def read_secrets(path: Path) -> list[bytes]:
    """The secrets in a file, if nobody else could have read it."""
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise InputError(OPTION, str(path), f"a file that only its owner may read: chmod 600 {path}")
            lines = file.read(_MAX_BYTES).decode("ascii", "replace").split()
    except OSError as error:
        raise unreadable(OPTION, path, error) from None
    if not lines or not all(_SECRET.fullmatch(line) for line in lines):
        raise InputError(OPTION, str(path), "lines of 64 hexadecimal digits, as adhere trial export wrote them")
    return [bytes.fromhex(line) for line in lines]
