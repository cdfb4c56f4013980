"""Start while the cause of a failure may pass: a database that is away, a port or a file in use, a full disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from adhere.errors import InputError, OutcomeUnknownError, StoreUnavailableError, UnavailableError
from adhere.files import may_pass

# Exit statuses of `adhere serve`, beside 2 for wrong settings. deploy/adhere.service starts it again after LATER.
REFUSED: Final = 65  # EX_DATAERR: the database is damaged, lacks records or is not adhere's, and a person must look
LATER: Final = 75  # EX_TEMPFAIL: it may succeed later

_FIRST_PAUSE = 0.5  # seconds, doubled each time
_LONGEST_PAUSE = 8.0

Started = TypeVar("Started")
log = logging.getLogger("adhere.service")


class StartError(Exception):
    """A start that did not succeed in time, for a cause that may pass."""


def start(attempt: Callable[[], Started], seconds: float) -> Started:
    """Try to start until it succeeds, fails for good, or `seconds` have passed; each failure is logged."""
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
        # Without a place for temporary files, of which none has space, Python says that none exists.
        return may_pass(error) or "temporary directory" in str(error)
    return isinstance(error, (StoreUnavailableError, OutcomeUnknownError, UnavailableError, MemoryError))


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "the machine has too little memory"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error).partition("\n")[0]
