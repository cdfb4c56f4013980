"""`adhere trial backup` and `adhere trial restore`: keep a copy of a file of trials, and go back to it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.destinations import check_file
from adhere.cli.options import BrokenLogError, refuse_address
from adhere.cli.trial.sources import SecretFileOption, bar
from adhere.errors import InputError
from adhere.report.numbers import counted


def backup(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The file of trials.")],
    path: Annotated[Path, typer.Argument(metavar="TO", help="A new file.")],
) -> None:
    """Copy a file of trials, as of one moment, while a service goes on writing to it.

    \b
      adhere trial backup adhere.db backup-2026-03-01.db

    The copy has everything: trials, tokens, pseudonyms, and the secrets that draw arms unless the service keeps them
    in a file of their own. Whoever has it can predict every arm. It is made for its owner only (mode 0600). 'adhere
    trial restore' goes back to it. PostgreSQL has tools of its own: pg_dump, pg_restore.
    """
    from adhere.store.sqlite import SqliteStore

    for argument, file in (("FILE", source), ("TO", path)):
        refuse_address(argument, file, "back that up with pg_dump")
    check_file("TO", path)
    with closing(SqliteStore(source, read_only=True)) as store:
        store.backup(path)
    typer.echo(str(path))


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="What 'adhere trial backup' wrote.")],
    into: Annotated[str, typer.Option("--into", metavar="FILE", help="The file of trials to make.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="If the file exists: keep it beside under a dated name.")
    ] = False,
    secret_file: SecretFileOption = None,
) -> None:
    """Put a backup in the place of a file of trials. Stop the service first.

    \b
      adhere trial restore backup-2026-03-01.db --into adhere.db
      adhere trial restore backup-2026-03-01.db --into adhere.db --replace

    The backup is copied and checked as a whole first: the file, its tables, every record against its chain of hashes.
    If anything is wrong, nothing changes and the exit status is not 0. Recommendations that were made after the
    backup are lost: in every trial that is not closed a new epoch begins, with a fresh secret, and their IDs are
    unknown from then on (docs/operations.md says what sites do then). The head of each trial is printed: compare it
    with one that was printed when the backup was made. Do not copy a backup over the file by hand: what SQLite left
    in adhere.db-wal would be mixed into it. PostgreSQL has pg_restore.
    """
    from adhere.store.restoring import restoring
    from adhere.store.secret_file import SecretFile
    from adhere.trial.log import verify as verifying
    from adhere.trial.writing.creation import begin_epochs
    from adhere.trial.writing.processor import utc_now

    refuse_address("BACKUP", source, "restore that with pg_restore")
    if "://" in into:
        raise InputError("--into", into.partition("://")[0] + "://…", "a file; PostgreSQL has pg_restore")
    lines = []
    with restoring(source, Path(into), replace=replace) as (copy, kept):
        copy.secret_file = None if secret_file is None else SecretFile(secret_file)
        with copy.reading() as view:
            for name, number in view.trials().items():
                with bar("verified") as on_progress:
                    verdict = verifying.verify(view, number, None, on_progress)
                if verdict.fault:
                    raise BrokenLogError(f"{source}: {name}, {verdict.fault}; nothing was changed")
                lines.append(f"{name}: {counted(verdict.n_records, 'record')}\nhead {verdict.head}")
        begin_epochs(
            copy, utc_now(), "restored from a backup: records after it are lost", None, "adhere trial restore"
        )
    if kept is not None:
        typer.echo(f"the file that was there is kept as {kept}")
    typer.echo("\n".join([f"restored {source} into {into}", *lines]))
