"""The CSRF check: a form must come from a page of this service that was shown in the same session."""

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest, digest

from adhere.service.http.problems import ProblemError


def csrf_of(secret: str) -> str:
    """Return the CSRF token of a session. Its forms include the token, which no other site can know.

    >>> csrf_of("a") == csrf_of("a") != csrf_of("b")
    True
    """
    return digest(secret.encode(), b"adhere form", sha256).hex()


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a form that a browser sent from another site."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        raise ProblemError("forbidden", "this form was sent from another site", field="Origin")


def check_csrf(secret: str, headers: Mapping[str, str], sent: str) -> None:
    """Refuse a form that was not sent from a page of the same session. `sent` is the form's field csrf."""
    given = headers.get("x-csrf-token") or sent
    if not compare_digest(csrf_of(secret).encode(), given.encode()):
        detail = "this form is of a session that has ended; load the page again"
        raise ProblemError("forbidden", detail, field="csrf")
