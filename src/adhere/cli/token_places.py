"""Where tokens are made, listed and revoked: in the store itself, or through a running service."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from adhere.cli.options import database
from adhere.errors import InputError, StoreError

if TYPE_CHECKING:
    from adhere.access.tokens import Tokens
    from adhere.client import Client
    from adhere.store import Store

TOKEN_VARIABLE = "ADHERE_TOKEN"

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help=f"Through the service that runs there, with the admin token in ${TOKEN_VARIABLE} or asked for.",
    ),
]


class TokenPlace(Protocol):
    """Makes, lists, rotates and revokes tokens; a token is its number and its text."""

    def make(self, role: str, label: str, **limits: Any) -> tuple[int, str]:
        """Make a token."""

    def lines(self) -> Sequence[Mapping[str, Any]]:
        """Every token, with its status."""

    def rotate(self, number: int, overlap: timedelta, expires_at: datetime | None) -> tuple[int, str]:
        """Make a new token in the place of one."""

    def revoke(self, number: int) -> None:
        """Revoke a token."""


class _InStore:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def make(self, role: str, label: str, **limits: Any) -> tuple[int, str]:
        token, text = self._tokens.make(role, label, **limits)
        return token.id, text

    def lines(self) -> Sequence[Mapping[str, Any]]:
        return [token._asdict() | {"status": self._tokens.status(token)} for token in self._tokens.all()]

    def rotate(self, number: int, overlap: timedelta, expires_at: datetime | None) -> tuple[int, str]:
        token, text = self._tokens.rotate(number, overlap=overlap, expires_at=expires_at)
        return token.id, text

    def revoke(self, number: int) -> None:
        self._tokens.revoke(number)


class _OnServer:
    def __init__(self, client: Client) -> None:
        self._client = client

    def make(self, role: str, label: str, **limits: Any) -> tuple[int, str]:
        made = self._client.make_token(role, label, **limits)
        return made.id, made.token

    def lines(self) -> Sequence[Mapping[str, Any]]:
        return [token.to_dict() for token in self._client.tokens()]

    def rotate(self, number: int, overlap: timedelta, expires_at: datetime | None) -> tuple[int, str]:
        made = self._client.rotate_token(number, overlap=overlap, expires_at=expires_at)
        return made.id, made.token

    def revoke(self, number: int) -> None:
        self._client.revoke_token(number)


@contextmanager
def token_place(
    file: Path | None, database_url: str | None, server: str | None, *, read_only: bool = False
) -> Iterator[TokenPlace]:
    """The store that was asked for, which must exist, or the service."""
    if server is not None:
        if file is not None or database_url not in (None, os.environ.get("ADHERE_DATABASE_URL")):
            raise InputError("--server", server, "either --server, or --data or --database-url")
        with _on_server(server) as place:
            yield place
        return
    from adhere.access.tokens import Tokens

    with closing(open_existing(file, database_url, read_only=read_only)) as store:
        yield _InStore(Tokens(store))


def open_existing(file: Path | None, database_url: str | None, *, read_only: bool = False) -> Store:
    """The store that was asked for; a file must exist, since a mistyped name would make another database."""
    from adhere.store import open_store

    where = database(file, database_url)
    if isinstance(where, Path) and not where.is_file():
        raise StoreError(f"{where} does not exist; the first 'adhere serve' makes it")
    return open_store(where, read_only=read_only)


@contextmanager
def _on_server(url: str) -> Iterator[TokenPlace]:
    try:
        from adhere.client import Client, ServiceError
    except ModuleNotFoundError as error:
        raise InputError("--server", url, f"an installation with the client ({error})") from None
    if not os.environ.get(TOKEN_VARIABLE) and not sys.stdin.isatty():
        sentence = f"set {TOKEN_VARIABLE} to an admin's token; there is no terminal to ask for it"
        raise InputError(TOKEN_VARIABLE, None, "an admin's token", sentence)
    try:
        token = os.environ.get(TOKEN_VARIABLE) or typer.prompt("Admin token", hide_input=True, err=True)
    except typer.Abort:  # Ctrl-C or Ctrl-D
        raise InputError(TOKEN_VARIABLE, None, "an admin's token", "no token was given; nothing was done") from None
    try:
        client = Client(url, token, tries=2)
    except InputError as error:
        option = {"url": "--server", "token": TOKEN_VARIABLE}[error.field]
        raise InputError(option, error.value, error.expected) from None
    with client:
        try:
            yield _OnServer(client)
        except ServiceError as error:
            raise StoreError(f"{url}: {error}" if error.status else str(error)) from None
