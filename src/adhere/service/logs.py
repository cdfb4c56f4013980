"""Logs: lines of JSON. Routes are named by template and tokens by number: no path, body or key."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from traceback import extract_tb
from typing import Any

import msgspec

from adhere.errors import InputError, UnavailableError
from adhere.files import may_pass
from adhere.service.context import RequestContext

_FIELDS = ("method", "route", "status", "milliseconds", "token")

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
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            kind, _, trace = record.exc_info
            # The message of the error is left out: it may quote what a client sent.
            line["error"] = kind.__name__ if kind else ""
            line["at"] = [f"{Path(at.filename).name}:{at.lineno} {at.name}" for at in extract_tb(trace)]
        return msgspec.json.encode(line).decode()


def set_up_logging(level: str = "info", file: str | None = None) -> None:
    """Log lines of JSON to standard error, or to a file, which is opened anew once it was renamed (logrotate)."""
    try:
        handler = WatchedFileHandler(file, encoding="utf-8") if file else logging.StreamHandler(sys.stderr)
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
        fields = {
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 3),
            "token": holder.id if holder is not None else None,
        }
        log.log(level, "request", extra=fields)
