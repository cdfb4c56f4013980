"""Start the service, with retries after failures that may be temporary, and hand over the first admin token.

Such failures are an unreachable database, a port or a file in use, or a full disk. The first admin token is shown on
a terminal or written to a file that only its owner can read.
"""

import errno
import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from adhere.access.tokens import Tokens
from adhere.errors import InputError, OutcomeUnknownError, StoreUnavailableError, UnavailableError
from adhere.files import make_private, may_pass
from adhere.store import Store

# Exit statuses of `adhere serve`, in addition to 2 for wrong settings. deploy/adhere.service restarts it after LATER.
REFUSED: Final = 65  # EX_DATAERR: the database is damaged, incomplete or not adhere's; a person must look
LATER: Final = 75  # EX_TEMPFAIL: it may succeed later

_FIRST_PAUSE = 0.5  # seconds, doubled after each attempt
_LONGEST_PAUSE = 8.0

Started = TypeVar("Started")
log = logging.getLogger("adhere.service")


class StartError(Exception):
    """The error if the service did not start in time because of a possibly temporary fault."""


def start(attempt: Callable[[], Started], seconds: float) -> Started:
    """Try to start until it succeeds, fails permanently, or `seconds` have passed. Each failure is logged."""
    until, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while True:
        try:
            return attempt()
        except InputError:
            raise
        except Exception as error:
            if not _is_passing(error):
                raise
            reason = _reason(error)
            left = until - time.monotonic()
            if left <= 0:
                raise StartError(reason) from error
        pause = min(pause, left)
        log.warning("not started yet, next try in %.1f s: %s", pause, reason)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _is_passing(error: Exception) -> bool:
    if isinstance(error, OSError):
        # If no folder for temporary files has space, Python reports that no such folder exists.
        return may_pass(error) or "temporary directory" in str(error)
    return isinstance(error, (StoreUnavailableError, OutcomeUnknownError, UnavailableError, MemoryError))


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "the machine has too little memory"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error).partition("\n")[0]


_OPTION = "--admin-token-file"


def announce_first_token(store: Store, file: str | None) -> None:
    """Make an admin token if the store never had a token.

    A pipe is refused, because its reader, such as systemd's journal, would store the token for many people to see.
    """
    tokens = Tokens(store)
    if tokens.all():
        if file is not None:
            _finish(tokens, Path(file))
        return
    if file is not None:
        _write(tokens, Path(file))
        return
    if sys.stdout is None or not sys.stdout.isatty():
        expected = "a new file for the first admin token"
        sentence = (
            f"{_OPTION} FILE is needed at the first start: standard output is not a terminal to show the token on"
        )
        raise InputError(_OPTION, None, expected, sentence)
    if text := tokens.make_first():
        print(f"The first admin token, shown only now: {text}", flush=True)


def _write(tokens: Tokens, path: Path) -> None:
    """Write the token to a temporary file, store it, then rename the file. A crash in between loses nothing."""
    part = _part(path)
    text = None
    try:
        if path.exists() or path.is_symlink():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        part.unlink(missing_ok=True)
        make_private(part)
        text = tokens.make_first(deliver=partial(_fill, part))
    except OutcomeUnknownError:
        raise  # the file stays, and the next attempt finds out whether its token is valid
    except OSError as error:
        _delete(part)
        if may_pass(error):
            raise
        expected = f"a new file in a folder that may be written ({error.strerror})"
        raise InputError(_OPTION, str(path), expected) from None
    except BaseException:
        _delete(part)
        raise
    if text is None:  # another process was first
        _delete(part)
    else:
        _move(part, path)


def _finish(tokens: Tokens, path: Path) -> None:
    """Move a token's file to its place if the machine stopped after the token was stored."""
    part = _part(path)
    with suppress(OSError):
        if not path.exists() and tokens.find(part.read_bytes().strip()) is not None:
            _move(part, path)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _fill(part: Path, text: str) -> None:
    with part.open("w", encoding="utf-8") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())


def _move(part: Path, path: Path) -> None:
    part.replace(path)
    print(f"The first admin token is in {path}", flush=True)


def _delete(part: Path) -> None:
    with suppress(OSError):
        part.unlink(missing_ok=True)
