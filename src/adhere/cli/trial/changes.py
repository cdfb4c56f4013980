"""Commands that write to files of trials: create, reveal, backup, restore, new-epoch and accept-loss."""

from contextlib import closing
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.cli.destinations import check_file
from adhere.cli.options import BrokenLogError, Imports, import_all, integer_option, refuse_address
from adhere.cli.trial.sources import (
    Into,
    SecretFileOption,
    StoreFile,
    StoreSource,
    TrialName,
    progress,
    store_name,
    writing_into,
)
from adhere.errors import FileInUseError, InputError, StoreError, listed
from adhere.report.numbers import counted

Event = Annotated[str, typer.Option("--reason", metavar="TEXT", help="What happened, for the record.")]


def create(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A design in .toml or .json.")],
    into: Into,
    seed: Annotated[int | None, integer_option("Seed (rehearsals only).")] = None,
    secret_file: SecretFileOption = None,
    imports: Imports = None,
) -> None:
    """Create the trial that a design describes, for 'adhere serve' to run. Print the design's digest.

    \b
      adhere trial create headache.toml --into adhere.db

    'adhere design run' simulates the same design. A repeated design changes nothing; another design under the same
    name is refused. The trial draws its own secret, by which its arms are drawn. The command prints a commitment to
    the secret: send it to somebody outside, or have it timestamped, before the first patient. A seed is for
    rehearsals only, because anyone who knows or guesses it can predict every arm. While a service runs on the file,
    create the trial through it: POST /trials takes the design in JSON.
    """
    from adhere.design.checks import check
    from adhere.design.design_file import load_design
    from adhere.trial.domain.events import created_event
    from adhere.trial.writing.creation import check_seed_of
    from adhere.trial.writing.processor import CommandProcessor

    import_all(imports)
    design = load_design(path)
    check_seed_of(design, seed, "--seed")
    try:
        with writing_into(into, secret_file) as store:
            with store.reading() as view:
                was_there = design.name in view.trials()
            CommandProcessor(store).create(design, seed=seed, by="adhere trial create")
            with store.reading() as view:
                commitment = created_event(view, view.trials()[design.name]).commitment
    except FileInUseError:
        raise FileInUseError(into, "POST /trials with the design in JSON, Client.create_trial_from(FILE)") from None
    done = f"is in {store_name(into)} already; nothing changed" if was_there else f"created in {store_name(into)}"
    typer.echo(f"{design.name}: {done}\ndesign {design.digest}")
    if commitment:
        typer.echo(f"commitment {commitment}")
    for warning in check(design):
        typer.echo(f"note: {warning}", err=True)


def reveal(
    source: StoreSource,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason, for the log.")],
    name: TrialName = None,
    secret_file: SecretFileOption = None,
    imports: Imports = None,
) -> None:
    """Reveal the secret by which a closed trial drew its arms and kits: it becomes a record of the log.

    \b
      adhere trial reveal adhere.db --trial headache --reason "the last assessor was unblinded"

    From then on anybody who has the log can draw every arm again ('adhere trial replay headache.log'). Closing a
    trial does not reveal its secret, because outcome assessors may still be blinded. A reveal cannot be undone. While
    a service runs on the file, reveal through it: POST /trials/NAME/reveal, or the trial's page.
    """
    from adhere.trial.domain.commands import Reveal
    from adhere.trial.writing.processor import CommandProcessor

    import_all(imports)
    try:
        with writing_into(source, secret_file, exists=True) as store:
            with store.reading() as view:
                names = list(view.trials())
            if name is None and len(names) != 1:
                sentence = f"several trials here; choose one with --trial: {listed(names)}" if names else ""
                raise InputError("--trial", None, "one of the trials", sentence or "there is no trial here")
            asked = name or names[0]
            command = Reveal(trial=asked, request_id=f"/{uuid4()}", by="adhere trial reveal", reason=reason)
            (answer,) = CommandProcessor(store).execute([command])
            if isinstance(answer, Exception):
                raise answer
    except FileInUseError:
        raise FileInUseError(source, "POST /trials/NAME/reveal, Client.reveal") from None
    typer.echo(f"{asked}: its secret is revealed in its log, in {store_name(source)}")


def backup(
    source: StoreFile,
    path: Annotated[Path, typer.Argument(metavar="TO", help="A new file.")],
) -> None:
    """Copy a file of trials, as of one moment, while a service continues to write to it.

    \b
      adhere trial backup adhere.db backup-2026-03-01.db

    The copy contains everything: trials, tokens, pseudonyms, and the secrets that draw arms unless the service stores
    them in a separate file. Anyone who has the copy can predict every arm, so only its owner may read it (mode 0600).
    'adhere trial restore' restores it. For PostgreSQL use pg_dump and pg_restore.
    """
    from adhere.store.sqlite import SqliteStore

    for argument, file in (("FILE", source), ("TO", path)):
        refuse_address(argument, file, "back that up with pg_dump")
    check_file("TO", path)
    with closing(SqliteStore(source, read_only=True)) as store:
        store.backup(path)
    typer.echo(str(path))


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that 'adhere trial backup' wrote.")],
    into: Annotated[str, typer.Option("--into", metavar="FILE", help="The file of trials to create.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing file, and keep it under a dated name.")
    ] = False,
    secret_file: SecretFileOption = None,
) -> None:
    """Replace a file of trials by a backup. Stop the service first.

    \b
      adhere trial restore backup-2026-03-01.db --into adhere.db
      adhere trial restore backup-2026-03-01.db --into adhere.db --replace

    The backup is first copied and checked completely: the file, its tables, and every record against the hash chain.
    If anything is wrong, nothing changes and the exit status is not 0. Recommendations made after the backup are
    lost. A new epoch with a fresh secret begins in every open trial, and the lost IDs are unknown from then on
    (docs/how-to/back-up-and-restore.md explains what sites do). The command prints the head of each trial: compare it
    with the head printed when the backup was made. Do not copy a backup over the file by hand: SQLite would mix the
    content of adhere.db-wal into it. For PostgreSQL use pg_restore.
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
                with progress("verified") as on_progress:
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


def accept_loss(
    source: StoreFile,
    reason: Event,
    secret_file: SecretFileOption = None,
) -> None:
    """Let a service continue with a file that lacks acknowledged records. Stop the service first.

    \b
      adhere trial accept-loss adhere.db --reason "adhere.db-wal was deleted after a crash"

    If you can, put the right files back or restore a backup instead: 'adhere serve' refuses the file until then, or
    until you accept the loss. The loss and its reason are recorded in the log of every open trial. Arms are drawn by
    a fresh secret from then on, because the lost arms could otherwise be predicted. If no record is missing, nothing
    changes.
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
            typer.echo(f"{source} has every acknowledged record; nothing was changed")
            return
        store.secret_file = None if secret_file is None else SecretFile(secret_file)
        begin_epochs(store, utc_now(), reason, n_lost, "adhere trial accept-loss")
    lost = "an unknown number of records" if n_lost is None else counted(n_lost, "record")
    typer.echo(f"{source} goes on without {lost}")


def new_epoch(
    source: StoreSource,
    reason: Event,
    secret_file: SecretFileOption = None,
) -> None:
    """Begin a new epoch in every open trial: arms are drawn by a fresh secret from here on.

    \b
      adhere trial new-epoch postgresql://… --reason "the cluster was set back to yesterday's snapshot"

    Use it, with the service stopped, if records may have been lost and adhere cannot notice: a snapshot of the disk
    was restored, and set back the folder of a SQLite file, a virtual machine or a PostgreSQL cluster as a whole.
    'adhere trial restore', 'import' and 'accept-loss' begin a new epoch by themselves, and so does the service after
    a copy or a pg_restore. Also use it if a secret may have become known.
    """
    from adhere.trial.writing.creation import begin_epochs
    from adhere.trial.writing.processor import utc_now

    reason = check_text("--reason", reason.strip(), MAX_TEXT_LENGTH)
    with writing_into(source, secret_file, exists=True) as store:
        n_begun = begin_epochs(store, utc_now(), reason, by="adhere trial new-epoch", always=True)
    typer.echo(f"{store_name(source)}: a new epoch in {counted(n_begun, 'trial')}")
