"""Times on the command line: a span such as 90d, a date, or how long something took."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from adhere.errors import InputError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d{1,6})([smhdw])")


def span(option: str, text: str) -> timedelta:
    """A span of time.

    >>> span("--overlap", "36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InputError(option, text, "a time such as 30m, 12h, 90d or 4w")
    return timedelta(**{_UNITS[found.group(2)]: int(found.group(1))})


def moment(option: str, text: str) -> datetime:
    """A span from now on, the beginning of a day (UTC), or a time; without a zone it is UTC.

    >>> moment("--expires", "2027-01-31").isoformat()
    '2027-01-31T00:00:00+00:00'
    """
    if _SPAN.fullmatch(text.strip()):
        return datetime.now(UTC) + span(option, text)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(option, text, "a span such as 90d, or a date such as 2027-01-31") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def duration(seconds: float) -> str:
    """A time as one would say it.

    >>> duration(4.26), duration(192.3)
    ('4.3 s', '3 min 12 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{round(seconds) // 60} min {round(seconds) % 60} s"
