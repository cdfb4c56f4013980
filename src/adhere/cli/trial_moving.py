"""`adhere trial import`: bring a trial in, from a log or a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.kit_secrets import OPTION, read_kit_secret
from adhere.cli.options import Imports, import_all, integer
from adhere.cli.trial_sources import bar
from adhere.errors import InputError
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
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", parser=integer, help="Seed (tables only).")
    ] = None,
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
    kit_secret: Annotated[
        Path | None,
        typer.Option("--kit-secret", metavar="FILE", help="The kit secret (logs of blinded trials only)."),
    ] = None,
    imports: Imports = None,
) -> None:
    """Bring a trial into a file of trials (or PostgreSQL): a log, exactly as it was, or a table of recommendations.

    \b
      adhere trial import headache.log --into adhere.db     (--kit-secret headache.secret, if it is blinded)
      adhere trial import headache.csv --into adhere.db --name headache --policy thompson/actual --seed 7

    A log must be whole, or nothing is imported; the trial goes on where it ended. A blinded trial can go on only with
    its kit secret, which 'adhere trial export' wrote into a file of its own; to verify, replay or export the log, no
    secret is needed, nor an import. A table (CSV or Parquet) makes a
    new trial whose policy learns from its rows. It needs the columns USUBJID and TRTP (or subject and chosen); TRTA,
    AVAL (actual, reward), dates and the rest are taken if they are there. The arms are those of TRTP, or of --arms:
    anything else in TRTA is refused; who took nothing, or something else, has an empty TRTA and TRTASTAT NOTHING or
    OTHER. Policies that remember something of each recommendation need MEMO.
    """
    from adhere.trial.log.table_import import import_table
    from adhere.trial.log.table_reading import arms_in, is_rehearsal, read_table
    from adhere.trial.make_design import make_design
    from adhere.trial.sources import is_log

    import_all(imports)
    if not path.is_file():
        raise InputError("FILE", str(path), "a .log, .csv or .parquet file", f"{path} does not exist")
    if is_log(path):
        given = {"--name": name, "--policy": policy, "--seed": seed, "--patients": patients}
        given |= {"--arms": arms, "--rewards": rewards}
        for option, value in given.items():
            if value is not None:
                sentence = f"{option} is for tables only; {path} is a log, which has its own"
                raise InputError(option, value, "a table", sentence)
        _import_log(path, into, kit_secret)
        return
    if kit_secret is not None:
        sentence = f"{OPTION} is for logs only; a table makes a new trial that is not blinded"
        raise InputError(OPTION, str(kit_secret), "a log", sentence)
    if name is None or policy is None:
        missing = "--name" if name is None else "--policy"
        raise InputError(
            missing, None, "--name and --policy", f"a table needs --name and --policy; {missing} is missing"
        )
    table = read_table(path)
    values = _rewards(table) if rewards is None else _listed(rewards)
    names = arms_in(table) if arms is None else arms.split(",")
    rehearsal = is_rehearsal(table)
    design = make_design(name, policy, names, n_patients=patients, reward_values=values, rehearsal=rehearsal)
    with writing_into(into) as store, bar("imported", "recommendations") as on_progress:
        n_records = import_table(table, store, design, seed, on_progress=on_progress)
    written = f"{counted(len(table), 'recommendation')}, {counted(n_records, 'record')}"
    typer.echo(f"{name}: {written}, imported into {shown(into)}\narms: {', '.join(design.arms)}")


def _import_log(path: Path, into: str, kit_secret: Path | None) -> None:
    from adhere.trial.log.log_file import import_log

    secret = None if kit_secret is None else read_kit_secret(kit_secret)
    with writing_into(into) as store, bar("imported") as on_progress:
        name, fault = import_log(path, store, secret, on_progress)
        if fault:
            raise InputError("FILE", str(path), f"a log that is as it was written; {fault}")
    typer.echo(f"{name}: imported into {shown(into)}")


@contextmanager
def writing_into(into: str) -> Iterator[Store]:
    """The store to write into; if that fails, no new file is left."""
    from adhere.store import open_store

    store = open_store(into)
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
    from adhere.trial.log.table_reading import rewards_in
    from adhere.trial.make_design import MAX_REWARD_VALUES

    found = rewards_in(table)  # type: ignore[arg-type]  # polars is only loaded when it is needed
    return tuple(sorted({0.0, 1.0, *found})) if len(found) < MAX_REWARD_VALUES - 1 else (0.0, 1.0)


def shown(into: str) -> str:
    """A store as it may be printed: an address may hold a password."""
    return "PostgreSQL" if "://" in into else into
