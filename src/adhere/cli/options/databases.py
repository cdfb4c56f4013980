"""Options for the store of the trials: a SQLite file, or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adhere.errors import InputError

DEFAULT_FILE = Path("adhere.db")

ExistingFile = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="The SQLite file of the trials. [adhere.db]")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        envvar="ADHERE_DATABASE_URL",
        show_envvar=True,
        help="PostgreSQL instead of a file: postgresql://user:password@host/database.",
    ),
]


def refuse_address(option: str, file: Path | str, instead: str) -> None:
    """Refuse the address of a PostgreSQL where a file is needed."""
    if str(file).startswith(("postgresql:/", "postgres:/")):
        raise InputError(option, "postgresql://…", "a file", f"{option} takes a file, not PostgreSQL: {instead}")


def database(file: Path | None, url: str | None) -> str | Path:
    """The store that was asked for."""
    if file is not None:
        refuse_address("--data", file, "give its address with --database-url")
    if url is None:
        return file or DEFAULT_FILE
    if file is not None:
        raise InputError("--data", str(file), "either --data or --database-url")
    if not url.startswith(("postgresql://", "postgres://")):
        raise InputError("--database-url", url.partition("@")[2] or url, "an address that begins with postgresql://")
    return url
