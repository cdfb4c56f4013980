"""The secret of a blinded trial's kits in a file of its own, which only its owner may read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from adhere.cli.destinations import check_file
from adhere.errors import InputError
from adhere.files import unreadable

OPTION = "--kit-secret"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # which follows no link either
_HEX_DIGITS = 64


def check_new(path: Path) -> None:
    """Refuse a file that is there already: a secret must never be lost under another, nor take its permissions."""
    if path.exists() or path.is_symlink():
        raise InputError(OPTION, str(path), "a new file; this one is there already")
    check_file(OPTION, path)


def write_kit_secret(path: Path, secret: bytes) -> None:
    """Write a secret into a new file, private from the moment it exists."""
    try:
        with os.fdopen(os.open(path, _NEW, 0o600), "w", encoding="ascii") as file:
            file.write(f"{secret.hex()}\n")
    except FileExistsError:
        raise InputError(OPTION, str(path), "a new file; this one is there already") from None
    except OSError as error:
        with suppress(OSError):  # half a secret is of no use
            path.unlink(missing_ok=True)
        raise InputError(OPTION, str(path), f"a file that may be written ({error.strerror})") from None


def read_kit_secret(path: Path) -> bytes:
    """The secret in a file, if nobody else could have read it."""
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise InputError(OPTION, str(path), f"a file that only its owner may read: chmod 600 {path}")
            text = file.read(_HEX_DIGITS + 2).decode("ascii", "replace").strip()
    except OSError as error:
        raise unreadable(OPTION, path, error) from None
    if len(text) != _HEX_DIGITS or set(text) - set("0123456789abcdef"):
        raise InputError(OPTION, str(path), f"the {_HEX_DIGITS} hexadecimal digits that adhere trial export wrote")
    return bytes.fromhex(text)
