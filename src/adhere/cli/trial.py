"""`adhere trial`: look at live trials, check them, carry them elsewhere."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli import trial_moving
from adhere.cli.destinations import check_file
from adhere.cli.options import Imports, import_all
from adhere.cli.trial_sources import BrokenLogError, Source, TrialName, bar, each_trial, every_trial, one_trial
from adhere.errors import InputError

app = typer.Typer(rich_markup_mode=None)
app.command("import", help=trial_moving.IMPORT_HELP, short_help="Bring in a log or a table.")(
    trial_moving.import_trial
)
app.command(help=trial_moving.BACKUP_HELP, short_help="Copy a file of trials that is in use.")(trial_moving.backup)


@app.callback(invoke_without_command=True)
def trial(context: typer.Context) -> None:
    """Look at live trials, check them, carry them elsewhere. 'adhere serve' runs them.

    Start with: adhere trial list adhere.db
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", short_help="What trials there are.")
def list_trials(source: Source) -> None:
    """What trials there are: name, status, recommendations, records, policy."""
    from adhere.trial.events import Created, decode
    from adhere.trial.fold import decode_standing

    with every_trial(source) as (view, fault):
        if fault:
            raise BrokenLogError(str(fault))
        for name, number in view.trials().items():
            head, created = view.head(number), decode(view.records(number, 0, 1)[0].body)
            assert isinstance(created, Created)
            standing = decode_standing(head.snapshot)
            now = "imported" if standing is None else f"{standing.status}, {standing.decisions} recommendations"
            typer.echo(f"{name}: {now}, {head.position} records, {created.design.policy}")


_VERIFY_HELP = """\
Check that a trial's log is as it was written: every record against the chain of hashes, and pseudonyms and free text
against their digests. Names the first record that is not.

\b
  adhere trial verify adhere.db                   every trial in the file; --trial headache: one
  adhere trial verify headache.log --head 5d41…   also sees a log whose end was cut off

The head is printed by every export and by this command. Nobody can see from a log alone that its last records are
missing, so keep a head where those who keep the log cannot change it. The exit status is 0 if all is well, else 1.
"""


@app.command(help=_VERIFY_HELP, short_help="Check that a log is as it was written.")
def verify(
    source: Source,
    name: TrialName = None,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="HASH", help="The head of an earlier export; it must be in the log."),
    ] = None,
) -> None:
    """Check the chain."""
    from adhere.trial import chain

    if head is not None and (len(head) != 64 or set(head.lower()) - set("0123456789abcdef")):
        raise InputError("--head", head, "the 64 hexadecimal digits that an export printed")
    for found in each_trial(source, name, alone=head is not None):
        with bar("verified") as tell:
            verdict = chain.verify(found.view, found.number, head and head.lower(), tell)
        if verdict.fault:
            raise BrokenLogError(f"{found.name}, {verdict.fault}")
        typer.echo(f"{found.name}: {verdict.n_records} records, all as they were written\nhead {verdict.head}")


_REPLAY_HELP = """\
Derive every recommendation of a trial again, each from the log as it stood when it was made, and compare arm,
probabilities and memo. Names the first that differs.

\b
  adhere trial replay adhere.db                   every trial in the file; --trial headache: one
  adhere trial replay headache.log

Recommendations made under another version of a policy's law are checked by their probabilities: their arms cannot be
drawn again. The exit status is 0 if all is well, else 1.
"""


@app.command(help=_REPLAY_HELP, short_help="Derive every recommendation again.")
def replay(source: Source, name: TrialName = None, imports: Imports = None) -> None:
    """Replay a trial."""
    from adhere.trial import replay as replaying

    import_all(imports)
    for found in each_trial(source, name):
        with bar("replayed") as tell, _quietly():
            result = replaying.replay(found.view, found.number, tell)
        if result.difference:
            raise BrokenLogError(f"{found.name}, {result.difference}")
        derived = f"{result.n_derived} recommendations derived again, all the same"
        typer.echo(f"{found.name}: {result.n_records} records; {derived}")
        if result.n_by_probabilities:
            laws = "; ".join(sorted(result.other_laws))
            typer.echo(
                f"{result.n_by_probabilities} were made under another law ({laws}; now {result.law}): their "
                "probabilities are the same, their arms were not derived again"
            )
        if result.n_fallbacks:
            typer.echo(
                f"{result.n_fallbacks} were drawn with equal chances since the policy had failed; all the same"
            )
        if result.n_imported:
            typer.echo(f"{result.n_imported} were imported from a table and not derived again")
        typer.echo(f"head {result.head}")


@contextmanager
def _quietly() -> Iterator[None]:
    """What a policy failed at is in the log already; nobody need be warned of it again."""
    warnings = logging.getLogger("adhere.trial")
    before = warnings.level
    warnings.setLevel(logging.ERROR)
    try:
        yield
    finally:
        warnings.setLevel(before)


_EXPLAIN_HELP = """\
Everything the log says of one recommendation: who asked and when, what the policy knew, the chance of each arm, what
was reported, corrected or assumed since.

\b
  adhere trial explain adhere.db --trial headache 17
"""


@app.command(help=_EXPLAIN_HELP, short_help="How one recommendation came to be.")
def explain(
    source: Source,
    recommendation: Annotated[int, typer.Argument(metavar="NUMBER", help="The recommendation's number.", min=0)],
    name: TrialName = None,
) -> None:
    """Explain a recommendation."""
    from adhere.trial.explaining import explained

    with one_trial(source, name) as found:
        for line in explained(found.view, found.number, recommendation):
            typer.echo(line)


_EXPORT_HELP = """\
Write a trial into a file. Prints the head of its log, for 'adhere trial verify --head'.

\b
  adhere trial export adhere.db --trial headache headache.csv       one row a recommendation, CDISC names
  adhere trial export adhere.db --trial headache headache.parquet   the same, with types
  adhere trial export adhere.db --trial headache headache.log       the whole log, to verify, replay or import

Tables have USUBJID, TRTP (chosen), TRTA (actual), AVAL (reward), dates, the chance of every arm and all that replay
needs. Tables and logs name subjects by their pseudonyms.
"""


@app.command(help=_EXPORT_HELP, short_help="Write a table or the log.")
def export(
    source: Source,
    path: Annotated[Path, typer.Argument(metavar="TO", help="A file ending in .csv, .parquet or .log.")],
    name: TrialName = None,
) -> None:
    """Export a trial."""
    from adhere.trial.events import Created, decode
    from adhere.trial.exporting import FORMATS, write_log, write_table

    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError("TO", str(path), "a file ending in .csv, .parquet or .log")
    check_file("TO", path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with bar("exported") as tell, one_trial(source, name) as found:
            if suffix == "log":
                head = write_log(found.view, found.number, beside, tell)
            else:
                created = decode(found.view.records(found.number, 0, 1)[0].body)
                assert isinstance(created, Created)
                head = write_table(found.view, found.number, created.design, beside, suffix, tell)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    typer.echo(f"{path}\nhead {head}")
