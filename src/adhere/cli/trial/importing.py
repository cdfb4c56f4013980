"""`adhere trial import`: bring a trial in, from a log or a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.options import Imports, LowerIsBetter, import_all, integer
from adhere.cli.trial.secret_files import OPTION, read_secrets
from adhere.cli.trial.sources import SecretFileOption, bar
from adhere.errors import InputError, StoreError
from adhere.report.numbers import counted

if TYPE_CHECKING:
    from adhere.store import Store


def import_trial(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A .log, .csv or .parquet file.")],
    into: Annotated[str, typer.Option("--into", metavar="FILE|URL", help="A file of trials, or postgresql://…")],
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its name (tables only).")] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="POLICY", help="The policy that learns from it (tables only).")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", parser=integer, hidden=True)] = None,
    patients: Annotated[
        int | None,
        typer.Option("--patients", metavar="N", parser=integer, help="The largest number of patients (tables only)."),
    ] = None,
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
        typer.Option("--secrets", metavar="FILE", help="The trial's secrets, as 'export' wrote them (logs only)."),
    ] = None,
    secret_file: SecretFileOption = None,
    imports: Imports = None,
) -> None:
    """Bring a trial into a file of trials (or PostgreSQL): a log, exactly as it was, or a table of recommendations.

    \b
      adhere trial import headache.log --into adhere.db --secrets headache.secrets
      adhere trial import headache.csv --into adhere.db --name headache --policy thompson/actual

    A log must be whole, or nothing is imported. The trial goes on where the log ends, in a new epoch with a fresh
    secret: the log may be older than the trial. It needs the secrets of the earlier epochs, which 'adhere trial
    export' wrote into a file of their own; to verify, replay or export the log, no secret is needed, nor an import.
    The log of a trial in memory (Trial.save) can be imported to be read, analysed and replayed. It cannot go on live.

    A table (CSV or Parquet) makes a new trial whose policy learns from its rows. It needs the columns USUBJID and
    TRTP (or subject and chosen); TRTA, AVAL (actual, reward), dates and the rest are taken if they are there. The
    arms are those of TRTP, or of --arms: anything else in TRTA is refused; who took nothing, or something else, has
    an empty TRTA and TRTASTAT NOTHING or OTHER. Labels that differ only in case or
    blanks are one arm. Policies that remember something of each recommendation need MEMO.
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
        sentence = f"{OPTION} is for logs only; a table makes a new trial, with a secret of its own"
        raise InputError(OPTION, str(secrets), "a log", sentence)
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
    with writing_into(into, secret_file) as store, bar("imported", "recommendations") as on_progress:
        n_records = import_table(table, store, design, on_progress=on_progress)
    written = f"{counted(len(table), 'recommendation')}, {counted(n_records, 'record')}"
    typer.echo(f"{name}: {written}, imported into {shown(into)}\narms: {', '.join(design.arms)}")
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _import_log(path: Path, into: str, secrets: Path | None, secret_file: str | None) -> None:
    from adhere.trial.domain.events import created_event
    from adhere.trial.log.log_file import import_log
    from adhere.trial.writing.creation import WHY_NO_SEED
    from adhere.trial.writing.processor import utc_now

    given = [] if secrets is None else read_secrets(secrets)
    with writing_into(into, secret_file) as store, bar("imported") as on_progress:
        name, fault = import_log(path, store, given, utc_now(), on_progress)
        if fault:
            raise InputError("FILE", str(path), f"a log that is as it was written; {fault}")
        with store.reading() as view:
            is_live = created_event(view, view.trials()[name]).is_live
    typer.echo(f"{name}: imported into {shown(into)}")
    if not is_live:
        typer.echo(f"note: it is there to be read and cannot go on live; {WHY_NO_SEED}", err=True)


@contextmanager
def writing_into(into: str, secret_file: str | None = None, *, exists: bool = False) -> Iterator[Store]:
    """The store to write into; if that fails, no new file is left. With `exists` no new one is made at all."""
    from adhere.store import open_store

    if exists and "://" not in into and not Path(into).exists():
        raise StoreError(f"{into} does not exist")
    store = open_store(into, secret_file=secret_file)
    try:
        yield store
    except BaseException:
        store.discard()
        raise
    store.close()


def _listed(rewards: str) -> tuple[float, ...]:
    try:
        return tuple(float(reward) for reward in rewards.split(","))
    except ValueError:
        raise InputError("--rewards", rewards, "numbers with commas between, e.g. 0,0.5,1") from None


def _rewards(table: object) -> tuple[float, ...]:
    """Every reward in a table: policies that recycle outcomes count them by value."""
    from adhere.design.make_design import MAX_REWARD_VALUES
    from adhere.trial.log.table_reading import rewards_in

    found = rewards_in(table)  # type: ignore[arg-type]  # polars is only loaded when it is needed
    return tuple(sorted({0.0, 1.0, *found})) if len(found) < MAX_REWARD_VALUES - 1 else (0.0, 1.0)


def shown(into: str) -> str:
    """A store as it may be printed: an address may hold a password."""
    return "PostgreSQL" if "://" in into else into
