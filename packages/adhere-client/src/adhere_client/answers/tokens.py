"""Tokens and links to sign in."""

from __future__ import annotations

from typing import Any

from adhere_client.answers.answer import Answer


class IssuedToken(Answer, frozen=True):
    """A new token, whose text is never shown again; printing the answer does not show it either."""

    id: int
    token: str
    role: str
    label: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None

    def __repr__(self) -> str:
        return f"IssuedToken(id={self.id}, token=(not shown), role={self.role!r}, label={self.label!r})"

    def __rich_repr__(self) -> Any:  # what rich prints instead
        yield from (("id", self.id), ("role", self.role), ("label", self.label))


class SignInLink(Answer, frozen=True):
    """A one-time link to sign in to the pages: its path on the service, and when it expires.

    Its secret is in the path's fragment, which browsers send to nobody: append the path to the service's address.
    """

    path: str
    expires_at: str


class TokenDetails(Answer, frozen=True):
    """A token in the list: whose it is, what it is for, and whether it is valid."""

    id: int
    role: str
    label: str
    made_at: str
    status: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: str | None = None
