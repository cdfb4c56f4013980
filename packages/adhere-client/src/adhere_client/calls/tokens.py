"""Tokens and links to sign in."""

from datetime import datetime, timedelta
from typing import Any

from adhere_client.errors import InputError
from adhere_client.request import Request, Steps, ask, get
from adhere_client.responses.service import IssuedToken, SignInLink, TokenDetails, TokenList


def make_token(
    role: str,
    label: str,
    *,
    site: str | None = None,
    trial: str | None = None,
    expires_at: datetime | None = None,
    new_site: bool = False,
) -> Steps[IssuedToken]:
    """Make a token. A site whose name looks like that of another one is refused, unless it is a `new_site`.

    It has no request id: a call whose answer got lost is not repeated, since its token would be lost too.
    """
    body: dict[str, Any] = {"role": role, "label": label, "site": site, "trial": trial, "expires_at": expires_at}
    if new_site:
        body["new_site"] = True
    return ask(Request("POST", "/tokens", IssuedToken, body, repeatable=False))


def rotate_token(
    id: int,  # noqa: A002 (the name in the address)
    *,
    overlap: timedelta = timedelta(0),
    expires_at: datetime | None = None,
) -> Steps[IssuedToken]:
    """Make a new token with the rights of a valid one, which ends after the overlap; not repeated either."""
    if not isinstance(overlap, timedelta):
        raise InputError("overlap", overlap, "a datetime.timedelta")
    body = {"overlap_seconds": int(overlap.total_seconds()), "expires_at": expires_at}
    return ask(Request("POST", f"/tokens/{id}/rotation", IssuedToken, body, repeatable=False))


def make_link(id: int, *, minutes: int = 60) -> Steps[SignInLink]:  # noqa: A002 (the name in the address)
    """Make a link by which the holder of a token signs in to the pages, once; not repeated either."""
    return ask(Request("POST", f"/tokens/{id}/links", SignInLink, {"minutes": minutes}, repeatable=False))


def tokens() -> Steps[list[TokenDetails]]:
    """All tokens, without their texts."""
    found = yield from get("/tokens", TokenList)
    return found.tokens


def revoke_token(id: int) -> Steps[None]:  # noqa: A002 (the name in the address)
    """Revoke a token; once more changes nothing."""
    return ask(Request("DELETE", f"/tokens/{id}", type(None)))
