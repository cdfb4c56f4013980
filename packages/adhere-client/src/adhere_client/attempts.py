"""Decide when a request is sent again, and after which pause. Every retry is logged; tokens never are."""

import logging
from typing import Any

from adhere_client.errors import ServiceError
from adhere_client.request import HttpResponse, Request

log = logging.getLogger("adhere_client")

_TOO_MANY = 429  # the request was certainly not executed
_UNAVAILABLE = (502, 503, 504)  # the request may have been executed
_FIRST_PAUSE, _MAX_PAUSE = 0.1, 10.0  # seconds; each pause is twice as long as the previous one
_MAX_ASKED_PAUSE = 60.0  # seconds; longer pauses that a service asks for are cut to this length
_IN_WORDS = {"ConnectTimeout": "timed out", "ReadTimeout": "timed out", "WriteTimeout": "timed out"}


class Attempts:
    """The attempts to send one request, with at most `retries` retries.

    A request is retried after faults that are likely to pass:

    - The answer was lost.
    - The service asks to wait (status 429, 502, 503 or 504).
    - The service cannot be reached, but this client reached it before (`was_up`). It may be restarting.

    If this client never reached the service, the request fails at once. The service is probably not running, or the
    address is wrong.
    """

    def __init__(self, request: Request[Any], url: str, retries: int, *, was_up: bool) -> None:
        self._request, self._url, self._retries, self._was_up = request, url, retries, was_up
        self._repeated = 0

    def pause_after(self, response: HttpResponse) -> float | None:
        """Return the seconds to wait before the request is sent again, or None if the response is final."""
        again = response.status == _TOO_MANY or (response.status in _UNAVAILABLE and self._request.repeatable)
        if not again or self._repeated >= self._retries:
            return None
        return self._pause(f"status {response.status}", _asked_pause(response.headers.get("retry-after", "")))

    def pause_after_failure(self, error: Exception) -> float:
        """Return the seconds to wait after a request without an answer, or raise an error if it is not sent again."""
        import httpcore

        if isinstance(error, (httpcore.ConnectError, httpcore.ConnectTimeout)):  # nothing was sent
            if self._was_up and self._repeated < self._retries:
                return self._pause(f"cannot connect ({_reason(error)})")
            raise ServiceError(0, _no_connection(self._url, error)) from None
        if self._request.repeatable and self._repeated < self._retries:
            return self._pause(f"no answer ({_reason(error)})")
        unknown = "" if self._request.repeatable else "; it is not known whether the request was executed"
        raise ServiceError(0, f"no answer from {self._url}: {_reason(error)}{unknown}") from None

    def _pause(self, what: str, asked: float = 0.0) -> float:
        import random  # imported here so that importing this package is fast

        grown = min(_FIRST_PAUSE * 2.0**self._repeated, _MAX_PAUSE)
        pause = max(asked, grown) + random.uniform(0.0, _FIRST_PAUSE)
        self._repeated += 1
        asked_for = f"{self._request.method} {self._url}{self._request.path}"
        log.warning("%s: %s; retry %d of %d in %.1f s", asked_for, what, self._repeated, self._retries, pause)
        return pause


def _asked_pause(header: str) -> float:
    """Return the seconds in a Retry-After header, or 0 if it has a date instead."""
    return min(float(header), _MAX_ASKED_PAUSE) if header.isascii() and header.isdigit() else 0.0


def _no_connection(url: str, error: Exception) -> str:
    if any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)):
        return f"nothing listens at {url} (connection refused); is `adhere serve` running there?"
    return f"cannot connect to {url}: {_reason(error)}"


def _reason(error: Exception) -> str:
    """Return the message of the innermost cause of an exception."""
    said = [str(cause) for cause in _causes(error) if str(cause)]
    return said[-1] if said else _IN_WORDS.get(type(error).__name__, type(error).__name__)


def _causes(error: object) -> list[BaseException]:
    """List an exception and its causes, including the members of a group. httpcore stores a cause as an argument."""
    found: list[BaseException] = []
    while isinstance(error, BaseException) and error not in found:
        found.append(error)
        if isinstance(error, BaseExceptionGroup):
            return found + [cause for inner in error.exceptions for cause in _causes(inner)]
        error = error.__cause__ or next(iter(error.args), None)
    return found
