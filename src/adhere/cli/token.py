"""`adhere token`: make, list, rotate and revoke tokens, in the store itself or through a running service."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adhere.cli.options import DatabaseUrl, ExistingFile, database, integer, moment, show_help, span, with_groups
from adhere.errors import ConflictError, InputError, StoreError

if TYPE_CHECKING:
    from adhere.client import Client
    from adhere.store import Store

TOKEN_VARIABLE = "ADHERE_TOKEN"

app = typer.Typer(add_completion=False, rich_markup_mode=None)
Number = Annotated[int, typer.Argument(metavar="NUMBER", parser=integer, help="From 'adhere token list'.")]
Expires = Annotated[
    str | None,
    typer.Option(
        "--expires",
        metavar="WHEN",
        help="The end: after a time (12h, 90d, 4w), or a day (2027-01-31).",
    ),
]


class StoredTokens:
    """The tokens in a store, with the same methods as the client of a service."""

    def __init__(self, store: Store) -> None:
        from adhere.access.tokens import Tokens

        self._tokens = Tokens(store)

    def make_token(self, role: str, label: str, **limits: Any) -> SimpleNamespace:
        """Make a token."""
        token, text = self._tokens.make(role, label, **limits)
        return SimpleNamespace(id=token.id, token=text)

    def tokens(self) -> list[SimpleNamespace]:
        """Return every token, with its status."""
        return [SimpleNamespace(**one._asdict(), status=self._tokens.status(one)) for one in self._tokens.all()]

    def rotate_token(self, number: int, *, overlap: timedelta, expires_at: datetime | None) -> SimpleNamespace:
        """Replace a token by a new one."""
        token, text = self._tokens.rotate(number, overlap=overlap, expires_at=expires_at)
        return SimpleNamespace(id=token.id, token=text)

    def revoke_token(self, number: int) -> None:
        """Revoke a token."""
        self._tokens.revoke(number)


@dataclass(frozen=True)
class TokenPlace:
    """Options for where the tokens are: in a running service, or in an existing store."""

    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help=f"The address of a running service. The admin token is taken from ${TOKEN_VARIABLE} or asked for.",
        ),
    ] = None
    file: ExistingFile = None
    database_url: DatabaseUrl = None

    @contextmanager
    def open(self, *, read_only: bool = False) -> Iterator[Client | StoredTokens]:
        """Open the service or the store."""
        if self.server is None:
            with closing(open_existing(self.file, self.database_url, read_only=read_only)) as store:
                yield StoredTokens(store)
            return
        if self.file is not None or self.database_url not in (None, os.environ.get("ADHERE_DATABASE_URL")):
            raise InputError("--server", self.server, "either --server, or --data or --database-url")
        with _client_of(self.server) as client:
            yield client


def open_existing(file: Path | None, database_url: str | None, *, read_only: bool = False) -> Store:
    """Open the store that the options name. A file must exist, because a mistyped name would create another
    database.
    """
    from adhere.store import open_store

    where = database(file, database_url)
    if isinstance(where, Path) and not where.is_file():
        raise StoreError(f"{where} does not exist; the first 'adhere serve' creates it")
    return open_store(where, read_only=read_only)


@contextmanager
def _client_of(url: str) -> Iterator[Client]:
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
            yield client
        except ServiceError as error:
            raise StoreError(f"{url}: {error}" if error.status else str(error)) from None


@app.callback(invoke_without_command=True)
def token(context: typer.Context) -> None:
    """Make, list, rotate and revoke the tokens of the service.

    \b
      export ADHERE_TOKEN=adh_…                                           an admin's
      adhere token make --role statistician --label Ada --expires 90d --server http://127.0.0.1:8000

    A SQLite file has only one writer, the running service: use --server. Without --server, the command changes the
    tokens in the file itself, and the service must be stopped. Tokens in PostgreSQL can be changed at any time.
    """
    show_help(context)


@app.command(short_help="Make a token; it is shown once.")
@with_groups
def make(
    *,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="site, coordinator, statistician, admin or metrics.")
    ],
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="The owner's name, for the list.")],
    site: Annotated[str | None, typer.Option("--site", metavar="NAME", help="The site (role site only).")] = None,
    trial: Annotated[str | None, typer.Option("--trial", metavar="NAME", help="Only for this trial.")] = None,
    new_site: Annotated[
        bool, typer.Option("--new-site", help="Accept a site's name although it resembles an existing one.")
    ] = False,
    expires: Expires = None,
    place: TokenPlace,
) -> None:
    """Make a token. It is shown once; only its digest is stored.

    A site's name that resembles an existing one (edinburgh and Edinburgh) is refused without --new-site.
    """
    end = None if expires is None else moment("--expires", expires)
    try:
        with place.open() as tokens:
            made = tokens.make_token(role, label, site=site, trial=trial, expires_at=end, new_site=new_site)
    except ConflictError as error:
        sentence = str(error).replace("(new_site)", "(--new-site)")  # the flag instead of the request's field
        if sentence == str(error):
            raise
        raise ConflictError("--site", site, "another name, or --new-site", sentence) from None
    typer.echo(f"token {made.id}, shown only now: {made.token}")


@app.command("list", short_help="List the tokens.")
@with_groups
def list_tokens(place: TokenPlace) -> None:
    """List the tokens: number, role, site, trial, label, status and times.

    The times are when a token was made, last used (to about a minute) and revoked, and when it expires.
    """
    times = {"made": "made_at", "last used": "last_used_at", "expires": "expires_at", "revoked": "revoked_at"}
    with place.open(read_only=True) as tokens:
        for one in tokens.tokens():
            limits = " ".join(filter(None, (one.site, one.trial)))
            dates = [f"{what} {at}" for what, field in times.items() if (at := getattr(one, field))]
            typer.echo("  ".join([str(one.id), one.role, limits or "-", one.label, one.status, *dates]))


@app.command(short_help="Replace a token by a new one with the same rights.")
@with_groups
def rotate(
    *,
    number: Number,
    overlap: Annotated[
        str, typer.Option("--overlap", metavar="TIME", help="How long the old token stays valid (1h, 2d).")
    ] = "0s",
    expires: Expires = None,
    place: TokenPlace,
) -> None:
    """Replace a valid token by a new one with the same role, site, trial and label.

    The old token ends at once or after --overlap. Unless --expires is given, the new token has the same lifetime as
    the old one. Both stay in the list.
    """
    span_of_both = span("--overlap", overlap)
    end = None if expires is None else moment("--expires", expires)
    with place.open() as tokens:
        new = tokens.rotate_token(number, overlap=span_of_both, expires_at=end)
    ends = f"ends in {overlap}" if span_of_both else "is revoked"
    typer.echo(f"token {number} {ends}\ntoken {new.id}, shown only now: {new.token}")


@app.command(short_help="Revoke a token for good.")
@with_groups
def revoke(number: Number, place: TokenPlace) -> None:
    """Revoke a token for good. A running service on PostgreSQL notices within seconds."""
    with place.open() as tokens:
        tokens.revoke_token(number)
    typer.echo(f"token {number} is revoked")


@app.command(short_help="Make an admin token when all are lost.")
def reset(file: ExistingFile = None, database_url: DatabaseUrl = None) -> None:
    """Make a new admin token on the machine itself when all are lost. Stop a service on SQLite first.

    The other tokens do not change: revoke the lost ones.
    """
    from adhere.access.tokens import Tokens

    with closing(open_existing(file, database_url)) as store:
        tokens = Tokens(store)
        others = [
            str(known.id) for known in tokens.all() if known.role == "admin" and tokens.status(known) == "valid"
        ]
        made, text = tokens.make("admin", "made by adhere token reset")
    typer.echo(f"token {made.id}, an admin's, shown only now: {text}")
    if others:
        typer.echo(f"Still valid, and to be revoked if lost: admin token {', '.join(others)} (adhere token revoke)")
