"""Calls that make, list or revoke tokens, and make links to sign in."""

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
    """Make a token. A site's name that looks like the name of another site is refused, unless `new_site` is True.

    If the answer is lost, the call is not repeated: each repetition would make another token.
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
    """Replace a valid token by a new token with the same rights. The old token ends after the overlap.

    If the answer is lost, the call is not repeated.
    """
    if not isinstance(overlap, timedelta):
        raise InputError("overlap", overlap, "a datetime.timedelta")
    body = {"overlap_seconds": int(overlap.total_seconds()), "expires_at": expires_at}
    return ask(Request("POST", f"/tokens/{id}/rotation", IssuedToken, body, repeatable=False))


def make_link(id: int, *, minutes: int = 60) -> Steps[SignInLink]:  # noqa: A002 (the name in the address)
    """Make a link with which the holder of a token can sign in to the pages once.

    If the answer is lost, the call is not repeated.
    """
    return ask(Request("POST", f"/tokens/{id}/links", SignInLink, {"minutes": minutes}, repeatable=False))


def tokens() -> Steps[list[TokenDetails]]:
    """List all tokens, without their texts."""
    found = yield from get("/tokens", TokenList)
    return found.tokens


def revoke_token(id: int) -> Steps[None]:  # noqa: A002 (the name in the address)
    """Revoke a token. Revoking it again changes nothing."""
    return ask(Request("DELETE", f"/tokens/{id}", type(None)))
