"""`adhere token`: make, list and revoke tokens, without the service."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from adhere.cli.databases import DatabaseUrl, ExistingFile, File, database
from adhere.cli.options import integer

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def token(context: typer.Context) -> None:
    """Make, list and revoke the tokens of a service that is not running, or that runs on PostgreSQL.

    A running service does the same over HTTP (POST, GET and DELETE /tokens). This is the way back in if the admin
    token was lost.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(short_help="Make a token; it is shown once.")
def make(
    role: Annotated[str, typer.Option("--role", help="site, statistician, admin or metrics (/metrics only).")],
    label: Annotated[str, typer.Option("--label", help="Whose it is, for the list.")],
    site: Annotated[str | None, typer.Option("--site", help="Of role site: the site.")] = None,
    trial: Annotated[str | None, typer.Option("--trial", help="Only for this trial.")] = None,
    file: File = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a token. It is shown once; only its digest is kept."""
    from adhere.store import open_store
    from adhere.tokens import Tokens

    with closing(open_store(database(file, database_url))) as store:
        made, text = Tokens(store).make(role, label, site=site, trial=trial)
    typer.echo(f"token {made.id}, shown only now: {text}")


@app.command("list", short_help="Which tokens there are.")
def list_tokens(file: ExistingFile = None, database_url: DatabaseUrl = None) -> None:
    """Which tokens there are: number, role, site, trial, label, when made and revoked."""
    from adhere.store import open_store

    with closing(open_store(database(file, database_url), read_only=True)) as store, store.reading() as view:
        for known in view.tokens():
            limits = " ".join(part for part in (known.site, known.trial) if part)
            state = f"revoked {known.revoked_at}" if known.revoked_at else "good"
            typer.echo(f"{known.id}  {known.role}  {limits or '-'}  {known.label}  made {known.made_at}  {state}")


@app.command(short_help="Revoke a token for good.")
def revoke(
    number: Annotated[int, typer.Argument(metavar="NUMBER", parser=integer, help="From 'adhere token list'.")],
    file: File = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke a token for good; a running service on PostgreSQL notices within seconds."""
    from adhere.store import open_store
    from adhere.tokens import Tokens

    with closing(open_store(database(file, database_url))) as store:
        Tokens(store).revoke(number)
    typer.echo(f"token {number} is revoked")
