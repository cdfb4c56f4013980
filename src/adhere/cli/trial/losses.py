"""`adhere trial accept-loss` and `new-epoch`: go on where acknowledged records are gone, or may be."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.cli.options import refuse_address
from adhere.cli.trial.importing import shown, writing_into
from adhere.cli.trial.sources import SecretFileOption
from adhere.errors import StoreError
from adhere.report.numbers import counted


def accept_loss(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The file of trials.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What happened, for the record.")],
    secret_file: SecretFileOption = None,
) -> None:
    """Let a service go on with a file that lacks acknowledged records. Stop the service first.

    \b
      adhere trial accept-loss adhere.db --reason "adhere.db-wal was deleted after a crash"

    Put the right files back or restore a backup if you can: 'adhere serve' refuses the file until then, or until this
    command was given. The loss is recorded in the log of every trial that is not closed, with the reason, and arms
    are drawn by a fresh secret from then on: those that were lost could otherwise be predicted. If no record is
    missing, nothing is changed.
    """
    from adhere.store.secret_file import SecretFile
    from adhere.store.sqlite import SqliteStore
    from adhere.trial.writing.creation import begin_epochs
    from adhere.trial.writing.processor import utc_now

    refuse_address("FILE", source, "PostgreSQL itself sees to it that nothing is lost")
    reason = check_text("--reason", reason.strip(), MAX_TEXT_LENGTH)
    if not source.is_file():
        raise StoreError(f"{source} does not exist")
    with closing(SqliteStore(source, accepts_loss=True)) as store:
        n_lost = store.n_lost
        if n_lost == 0:
            typer.echo(f"{source} has every record that was acknowledged; nothing was changed")
            return
        store.secret_file = None if secret_file is None else SecretFile(secret_file)
        begin_epochs(store, utc_now(), reason, n_lost, "adhere trial accept-loss")
    lost = "an unknown number of records" if n_lost is None else counted(n_lost, "record")
    typer.echo(f"{source} goes on without {lost}")


def new_epoch(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="A file of trials, or postgresql://…")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What happened, for the record.")],
    secret_file: SecretFileOption = None,
) -> None:
    """Begin a new epoch in every trial that is not closed: arms are drawn by a fresh secret from here on.

    \b
      adhere trial new-epoch postgresql://… --reason "the cluster was set back to yesterday's snapshot"

    Use it, with the service stopped, where records may have been lost and adhere cannot tell: the folder of a SQLite
    file, a virtual machine or a PostgreSQL cluster was set back as a whole, by a snapshot of its disk.
    'adhere trial restore', 'import' and 'accept-loss' do it by themselves, and so does the service after a copy or a
    pg_restore. Also use it if a secret may have become known.
    """
    from adhere.trial.writing.creation import begin_epochs
    from adhere.trial.writing.processor import utc_now

    reason = check_text("--reason", reason.strip(), MAX_TEXT_LENGTH)
    with writing_into(source, secret_file, exists=True) as store:
        n_begun = begin_epochs(store, utc_now(), reason, by="adhere trial new-epoch", always=True)
    typer.echo(f"{shown(source)}: a new epoch in {counted(n_begun, 'trial')}")
