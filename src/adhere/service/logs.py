"""Logs: lines of JSON. Routes are named by template and tokens by number: no path, body or key."""

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
    """One line of JSON for each log record."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "request", {})
        if record.exc_info:
            kind, _, trace = record.exc_info
            # The message of the error is left out: it may quote what a client sent.
            line["error"] = kind.__name__ if kind else ""
            line["at"] = [f"{Path(at.filename).name}:{at.lineno} {at.name}" for at in extract_tb(trace)]
        return msgspec.json.encode(line).decode()


class Seldom:
    """Lets something be said at most once in some seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._next = clock()

    def may(self) -> bool:
        """Return whether it may be said now; if so, not again for that time."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True


class LogFile(WatchedFileHandler):
    """A log file that is opened anew once it was renamed.

    If it cannot be written, one line on standard error tells why, at most once a minute; the program goes on.
    """

    def __init__(self, file: str) -> None:
        super().__init__(file, encoding="utf-8")
        self._complaints = Seldom(_SECONDS_BETWEEN_COMPLAINTS)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            super().emit(record)
        except OSError:  # the file could not be opened anew, or the old one not be closed
            stream, self.stream = self.stream, None  # opened again for the next line
            with suppress(OSError):
                if stream is not None:
                    stream.close()
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's own name)
        """Say on standard error why a line was not written."""
        error = sys.exception()
        if self._complaints.may() and sys.stderr is not None:
            why = error.strerror if isinstance(error, OSError) else type(error).__name__
            sentence = f"log_file {self.baseFilename} cannot be written: {why}; lines are lost until it can be"
            with suppress(OSError, ValueError):  # it may be closed, or on the same disk
                print(sentence, file=sys.stderr, flush=True)


def set_up_logging(level: str = "info", file: str | None = None) -> None:
    """Log lines of JSON to standard error, or to a file, which is opened anew once it was renamed (logrotate)."""
    try:
        handler = LogFile(file) if file else logging.StreamHandler(sys.stderr)
    except OSError as error:
        if may_pass(error):
            raise UnavailableError(f"log_file {file} cannot be written: {error.strerror}") from None
        raise InputError("log_file", file, f"a file that can be written ({error.strerror})") from None
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def log_request(method: str, route: str, status: int, seconds: float, context: RequestContext, *, slow: bool) -> None:
    """Log errors and slow requests at level info and all others at debug, since the metrics count them."""
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
