"""`adhere trial export` and `import`: a trial as a log or a table, and its secrets in a separate file."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.destinations import check_file
from adhere.cli.options import Imports, LowerIsBetter, import_all, integer, integer_option
from adhere.cli.trial.sources import (
    Into,
    SecretFileOption,
    Source,
    TrialName,
    one_trial,
    progress,
    store_name,
    writing_into,
)
from adhere.errors import InputError
from adhere.files import replacing, unreadable
from adhere.report.numbers import counted

_SECRETS = "--secrets"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # follows no link either
_SECRET = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 1 << 20


def export(
    source: Source,
    path: Annotated[Path, typer.Argument(metavar="TO", help="A file ending in .csv, .parquet or .log.")],
    name: TrialName = None,
    secrets: Annotated[
        Path | None,
        typer.Option("--secrets", metavar="FILE", help="A new file for the trial's secrets (.log only)."),
    ] = None,
    secret_file: SecretFileOption = None,
) -> None:
    """Write a trial to a file. Print the head of its log, for 'adhere trial verify --head'.

    \b
      adhere trial export adhere.db --trial headache headache.csv       one row per recommendation, CDISC names
      adhere trial export adhere.db --trial headache headache.parquet   the same, with types
      adhere trial export adhere.db --trial headache headache.log       the whole log, to verify, replay or import

    Tables contain USUBJID, TRTP (chosen), TRTA (actual), AVAL (reward), dates, the probability of every arm, and
    everything that a replay needs. Tables and logs name subjects by their pseudonyms. In CSV, an apostrophe precedes
    text that a spreadsheet would read as a formula (it begins with =, +, - or @); 'adhere trial import' removes it.

    An open trial can be imported and continued elsewhere only with the secrets that draw its arms and kits. None of
    these files contains them. --secrets writes them to a separate file (mode 0600). Anyone who has it can predict
    every arm:

    \b
      adhere trial export adhere.db --trial headache headache.log --secrets headache.secrets
    """
    from adhere.trial.domain.events import created_event
    from adhere.trial.log.log_file import secrets_of, write_log
    from adhere.trial.log.table import FORMATS, write_table
    from adhere.trial.writing.snapshot import summary_of

    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError("TO", str(path), "a file ending in .csv, .parquet or .log")
    check_file("TO", path)
    if secrets is not None:
        if suffix != "log":
            raise InputError(_SECRETS, str(secrets), "the log; an imported table gets its own secret")
        if secrets.resolve() == path.resolve():
            raise InputError(_SECRETS, str(secrets), "another file than the log's")
        _check_new(secrets)
    with (
        replacing(path, private=True) as temporary,
        progress("exported") as on_progress,
        one_trial(source, name, secret_file) as found,
    ):
        created, known = created_event(found.view, found.number), secrets_of(found.view, found.number)
        if secrets is not None and not known:
            lacking = f"a trial with all its secrets stored here; {found.name} lacks one or more"
            raise InputError(_SECRETS, str(secrets), lacking)
        if suffix == "log":
            head = write_log(found.view, found.number, temporary, on_progress)
        else:
            head = write_table(found.view, found.number, created.design, temporary, suffix, on_progress)
        if secrets is not None:
            _write_secrets(secrets, known)
        status = summary_of(found.view, found.number).status
    typer.echo(f"{path}\nhead {head}")
    if suffix == "log" and known and secrets is None and status != "closed":
        typer.echo("note: to continue this trial elsewhere, export it with --secrets FILE", err=True)


def import_trial(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A .log, .csv or .parquet file.")],
    into: Into,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The trial's name (tables only).")
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="POLICY", help="The policy that learns from it (tables only).")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", parser=integer, hidden=True)] = None,
    patients: Annotated[int | None, integer_option("The largest number of patients (tables only).")] = None,
    arms: Annotated[
        str | None,
        typer.Option("--arms", metavar="A,B,…", help="All arms, if not all were recommended (tables only)."),
    ] = None,
    rewards: Annotated[
        str | None, typer.Option("--rewards", metavar="0,0.5,1", help="Every reward that can occur (tables only).")
    ] = None,
    lower_is_better: LowerIsBetter = False,
    secrets: Annotated[
        Path | None,
        typer.Option("--secrets", metavar="FILE", help="The file of secrets that 'export' wrote (logs only)."),
    ] = None,
    secret_file: SecretFileOption = None,
    imports: Imports = None,
) -> None:
    """Import a trial into a file of trials (or PostgreSQL): a log, unchanged, or a table of recommendations.

    \b
      adhere trial import headache.log --into adhere.db --secrets headache.secrets
      adhere trial import headache.csv --into adhere.db --name headache --policy thompson/actual

    A log must be complete; otherwise nothing is imported. The trial continues where the log ends, in a new epoch with
    a fresh secret, because the log may be older than the trial. This needs the secrets of the earlier epochs, which
    'adhere trial export' wrote to a separate file. To verify, replay or export a log you need neither secrets nor an
    import. The log of a trial in memory (Trial.save) can be imported to be read, analysed and replayed. It cannot
    continue live.

    A table (CSV or Parquet) makes a new trial with a policy that learns from its rows. It needs the columns USUBJID
    and TRTP (or subject and chosen). TRTA, AVAL (actual, reward), dates and other columns are used if present. The
    arms are those in TRTP, or in --arms; other values in TRTA are refused. For subjects who took nothing, or
    something else, TRTA is empty and TRTASTAT is NOTHING or OTHER. Labels that differ only in case or blanks are one
    arm. Policies that remember something about each recommendation need the column MEMO.
    """
    from adhere.design.make_design import make_design
    from adhere.trial.log.table_import import import_table
    from adhere.trial.log.table_reading import arms_in, is_rehearsal, lower_is_better_in, read_table, with_arms
    from adhere.trial.sources import is_log
    from adhere.trial.writing.creation import WHY_NO_SEED

    import_all(imports)
    if not path.is_file():
        raise InputError("FILE", str(path), "a .log, .csv or .parquet file", f"{path} does not exist")
    if seed is not None:
        raise InputError("--seed", seed, "none", f"--seed: got {seed}, expected none: {WHY_NO_SEED}")
    if is_log(path):
        given = {"--name": name, "--policy": policy, "--patients": patients}
        given |= {"--arms": arms, "--rewards": rewards, "--lower-is-better": lower_is_better or None}
        for option, value in given.items():
            if value is not None:
                sentence = f"{option} is for tables only; {path} is a log, which has its own"
                raise InputError(option, value, "a table", sentence)
        _import_log(path, into, secrets, secret_file)
        return
    if secrets is not None:
        sentence = f"{_SECRETS} is for logs only; a table makes a new trial, with its own secret"
        raise InputError(_SECRETS, str(secrets), "a log", sentence)
    if name is None or policy is None:
        missing = "--name" if name is None else "--policy"
        raise InputError(
            missing, None, "--name and --policy", f"a table needs --name and --policy; {missing} is missing"
        )
    table = read_table(path)
    values = _rewards(table) if rewards is None else _listed(rewards)
    names = arms_in(table) if arms is None else arms.split(",")
    table, notes = with_arms(table, names)
    rehearsal = is_rehearsal(table)
    design = make_design(
        name,
        policy,
        names,
        n_patients=patients,
        reward_values=values,
        rehearsal=rehearsal,
        lower_is_better=lower_is_better or lower_is_better_in(table),
    )
    with writing_into(into, secret_file) as store, progress("imported", "recommendations") as on_progress:
        n_records = import_table(table, store, design, on_progress=on_progress)
    written = f"{counted(len(table), 'recommendation')}, {counted(n_records, 'record')}"
    typer.echo(f"{name}: {written}, imported into {store_name(into)}\narms: {', '.join(design.arms)}")
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _import_log(path: Path, into: str, secrets: Path | None, secret_file: str | None) -> None:
    from adhere.trial.domain.events import created_event
    from adhere.trial.log.log_file import import_log
    from adhere.trial.writing.creation import WHY_NO_SEED
    from adhere.trial.writing.processor import utc_now

    given = [] if secrets is None else _read_secrets(secrets)
    with writing_into(into, secret_file) as store, progress("imported") as on_progress:
        name, fault = import_log(path, store, given, utc_now(), on_progress)
        if fault:
            raise InputError("FILE", str(path), f"an unchanged log; {fault}")
        with store.reading() as view:
            is_live = created_event(view, view.trials()[name]).is_live
    typer.echo(f"{name}: imported into {store_name(into)}")
    if not is_live:
        typer.echo(f"note: the trial can be read but cannot continue live; {WHY_NO_SEED}", err=True)


def _listed(rewards: str) -> tuple[float, ...]:
    try:
        return tuple(float(reward) for reward in rewards.split(","))
    except ValueError:
        raise InputError("--rewards", rewards, "numbers with commas between, e.g. 0,0.5,1") from None


def _rewards(table: object) -> tuple[float, ...]:
    """Return every reward in a table, because policies that recycle outcomes count them by value."""
    from adhere.design.make_design import MAX_REWARD_VALUES
    from adhere.trial.log.table_reading import rewards_in

    found = rewards_in(table)  # type: ignore[arg-type]  # polars is only loaded when it is needed
    return tuple(sorted({0.0, 1.0, *found})) if len(found) < MAX_REWARD_VALUES - 1 else (0.0, 1.0)


def _check_new(path: Path) -> None:
    """Refuse an existing file: a secret must not overwrite another one, nor take over its permissions."""
    if path.exists() or path.is_symlink():
        raise InputError(_SECRETS, str(path), "a new file; this one is there already")
    check_file(_SECRETS, path)


def _write_secrets(path: Path, secrets: Sequence[bytes]) -> None:
    """Write secrets to a new file, one per line. The file is private from the moment it exists."""
    try:
        with os.fdopen(os.open(path, _NEW, 0o600), "w", encoding="ascii") as file:
            file.writelines(f"{secret.hex()}\n" for secret in secrets)
    except FileExistsError:
        raise InputError(_SECRETS, str(path), "a new file; this one is there already") from None
    except OSError as error:
        with suppress(OSError):  # half a secret is of no use
            path.unlink(missing_ok=True)
        raise InputError(_SECRETS, str(path), f"a file that may be written ({error.strerror})") from None


def _read_secrets(path: Path) -> list[bytes]:
    """Return the secrets in a file, if only its owner may read it."""
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise InputError(_SECRETS, str(path), f"a file that only its owner may read: chmod 600 {path}")
            lines = file.read(_MAX_BYTES).decode("ascii", "replace").split()
    except OSError as error:
        raise unreadable(_SECRETS, path, error) from None
    if not lines or not all(_SECRET.fullmatch(line) for line in lines):
        raise InputError(_SECRETS, str(path), "lines of 64 hexadecimal digits, as adhere trial export wrote them")
    return [bytes.fromhex(line) for line in lines]
