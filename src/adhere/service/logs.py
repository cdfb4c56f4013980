"""Logs as lines of JSON. They name routes by template and tokens by number, and contain no path, body or key."""

import logging
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from traceback import extract_tb
from typing import Any

import msgspec

from adhere.errors import InputError, UnavailableError
from adhere.files import may_pass
from adhere.service.context import RequestContext

_SECONDS_BETWEEN_COMPLAINTS = 60.0

log = logging.getLogger("adhere.access")


class JsonLines(logging.Formatter):
    """A formatter that writes one line of JSON per log record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a log record."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "request", {})
        if record.exc_info:
            kind, _, trace = record.exc_info
            # The error's message is left out, because it may quote a client's input.
            line["error"] = kind.__name__ if kind else ""
            line["at"] = [f"{Path(at.filename).name}:{at.lineno} {at.name}" for at in extract_tb(trace)]
        return msgspec.json.encode(line).decode()


class Seldom:
    """A limiter that allows a message at most once in a number of seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._next = clock()

    def may(self) -> bool:
        """Return whether a message is allowed now. If so, the waiting time starts again."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True


class LogFile(WatchedFileHandler):
    """A log file that is reopened after it was renamed.

    If it cannot be written, a line on standard error gives the reason, at most once a minute. The program continues.
    """

    def __init__(self, file: str) -> None:
        super().__init__(file, encoding="utf-8")
        self._complaints = Seldom(_SECONDS_BETWEEN_COMPLAINTS)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            super().emit(record)
        except OSError:  # the file could not be reopened, or the old file could not be closed
            stream, self.stream = self.stream, None  # reopened for the next line
            with suppress(OSError):
                if stream is not None:
                    stream.close()
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's own name)
        """Report on standard error why a line was not written."""
        error = sys.exception()
        if self._complaints.may() and sys.stderr is not None:
            why = error.strerror if isinstance(error, OSError) else type(error).__name__
            sentence = f"log_file {self.baseFilename} cannot be written: {why}; lines are lost until it can be"
            with suppress(OSError, ValueError):  # standard error may be closed, or on the same full disk
                print(sentence, file=sys.stderr, flush=True)


def set_up_logging(level: str = "info", file: str | None = None) -> None:
    """Log lines of JSON to standard error or to a file, which is reopened after it was renamed (by logrotate)."""
    try:
        handler = LogFile(file) if file else logging.StreamHandler(sys.stderr)
    except OSError as error:
        if may_pass(error):
            raise UnavailableError(f"log_file {file} cannot be written: {error.strerror}") from None
        raise InputError("log_file", file, f"a file that can be written ({error.strerror})") from None
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def log_request(method: str, route: str, status: int, seconds: float, context: RequestContext, *, slow: bool) -> None:
    """Log errors and slow requests at level info, and other requests at debug, because the metrics count them."""
    level = logging.INFO if status >= 400 or slow else logging.DEBUG
    if log.isEnabledFor(level):
        holder = getattr(context, "holder", None)
        request = {
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 3),
            "token": holder.id if holder is not None else None,
        }
        log.log(level, "request", extra={"request": request})
