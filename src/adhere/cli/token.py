"""`adhere token`: make, list, rotate and revoke tokens, in the store itself or through a running service."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from adhere.cli.options import DatabaseUrl, ExistingFile, integer, moment, span
from adhere.cli.token_places import Server, open_existing, token_place
from adhere.errors import ConflictError

app = typer.Typer(add_completion=False, rich_markup_mode=None)
Number = Annotated[int, typer.Argument(metavar="NUMBER", parser=integer, help="From 'adhere token list'.")]
Expires = Annotated[
    str | None,
    typer.Option("--expires", metavar="WHEN", help="After a time (12h, 90d, 4w), or when a day begins (2027-01-31)."),
]


@app.callback(invoke_without_command=True)
def token(context: typer.Context) -> None:
    """Make, list, rotate and revoke the tokens of the service.

    \b
      export ADHERE_TOKEN=adh_…                                           an admin's
      adhere token make --role statistician --label Ada --expires 90d --server http://127.0.0.1:8000

    A SQLite file has one writer, the running service: ask it with --server. Without --server the tokens in the file
    itself are changed, for which the service must be stopped, or those in PostgreSQL, at any time.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(short_help="Make a token; it is shown once.")
def make(
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="site, coordinator, statistician, admin or metrics.")
    ],
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="Whose it is, for the list.")],
    site: Annotated[str | None, typer.Option("--site", metavar="NAME", help="The site (role site only).")] = None,
    trial: Annotated[str | None, typer.Option("--trial", metavar="NAME", help="Only for this trial.")] = None,
    new_site: Annotated[
        bool, typer.Option("--new-site", help="Another site, though its name looks like that of one that exists.")
    ] = False,
    expires: Expires = None,
    server: Server = None,
    file: ExistingFile = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a token. It is shown once; only its digest is kept.

    A site whose name looks like that of one that exists (edinburgh beside Edinburgh) is refused without --new-site.
    """
    end = None if expires is None else moment("--expires", expires)
    try:
        with token_place(file, database_url, server) as place:
            number, text = place.make(role, label, site=site, trial=trial, expires_at=end, new_site=new_site)
    except ConflictError as error:
        sentence = str(error).replace("(new_site)", "(--new-site)")  # the flag instead of the field of a request
        if sentence == str(error):
            raise
        raise ConflictError("--site", site, "another name, or --new-site", sentence) from None
    typer.echo(f"token {number}, shown only now: {text}")


@app.command("list", short_help="Which tokens there are.")
def list_tokens(server: Server = None, file: ExistingFile = None, database_url: DatabaseUrl = None) -> None:
    """Which tokens there are: number, role, site, trial, label, whether valid, when made, last used (to about a
    minute), when they expire and were revoked.
    """
    with token_place(file, database_url, server, read_only=True) as place:
        for line in place.lines():
            limits = " ".join(line[part] for part in ("site", "trial") if line.get(part))
            times = {"made": "made_at", "last used": "last_used_at", "expires": "expires_at", "revoked": "revoked_at"}
            told = [f"{what} {line[key]}" for what, key in times.items() if line.get(key)]
            parts = [str(line["id"]), line["role"], limits or "-", line["label"], line["status"], *told]
            typer.echo("  ".join(parts))


@app.command(short_help="Replace a token by a new one with the same rights.")
def rotate(
    number: Number,
    overlap: Annotated[
        str, typer.Option("--overlap", metavar="TIME", help="For how long the old one stays valid (1h, 2d).")
    ] = "0s",
    expires: Expires = None,
    server: Server = None,
    file: ExistingFile = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a new token with the role, site, trial and label of a valid one, which ends at once or after --overlap.

    Unless --expires says otherwise, the new one lives as long as the old one was to live. Both stay in the list.
    """
    span_of_both = span("--overlap", overlap)
    end = None if expires is None else moment("--expires", expires)
    with token_place(file, database_url, server) as place:
        new, text = place.rotate(number, span_of_both, end)
    ends = f"ends in {overlap}" if span_of_both else "is revoked"
    typer.echo(f"token {number} {ends}\ntoken {new}, shown only now: {text}")


@app.command(short_help="Revoke a token for good.")
def revoke(
    number: Number, server: Server = None, file: ExistingFile = None, database_url: DatabaseUrl = None
) -> None:
    """Revoke a token for good; a running service on PostgreSQL notices within seconds."""
    with token_place(file, database_url, server) as place:
        place.revoke(number)
    typer.echo(f"token {number} is revoked")


@app.command(short_help="The way back in when every admin token is lost.")
def reset(file: ExistingFile = None, database_url: DatabaseUrl = None) -> None:
    """Make a new admin token on the machine itself, when all are lost. Stop a service on SQLite first.

    The other tokens stay as they are: revoke those that are lost.
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
