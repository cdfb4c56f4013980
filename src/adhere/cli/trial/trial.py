"""`adhere trial`: look at live trials, check them, export or move them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.options import BrokenLogError, Imports, import_all, show_help
from adhere.cli.trial.changes import accept_loss, backup, create, new_epoch, restore, reveal
from adhere.cli.trial.moving import export, import_trial
from adhere.cli.trial.sources import SecretFileOption, Source, TrialName, each_trial, every_trial, one_trial, progress
from adhere.cli.trial.views import accesses, looks, results
from adhere.errors import InputError
from adhere.report.numbers import counted, rounded_numbers

_SECRETS = {  # what is known about the secret that drew the arms
    "revealed": "its secret is revealed in the log, and is the one committed to: anybody can draw its arms again "
    "with 'adhere trial replay'",
    "kept": "its secret is kept here, and is the one committed to; whoever has only the log cannot draw its arms",
    "unknown": "its secret is not revealed: 'adhere trial replay' checks every probability, and draws no arm",
    "seed": "its arms were drawn by a seed that is in the log",
}
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def trial(context: typer.Context) -> None:
    """Look at live trials, check them, export or move them. 'adhere serve' runs them.

    Start with: adhere trial list adhere.db
    """
    show_help(context)


@app.command("list", short_help="List the trials.")
def list_trials(source: Source) -> None:
    """List the trials: name, status, a stop that a look recommends, recommendations, records, time of the last
    record, and policy.
    """
    from adhere.trial.domain.events import created_event, decode
    from adhere.trial.log.look_view import stop_to_confirm
    from adhere.trial.writing.snapshot import summary_of

    with every_trial(source) as view:
        for name, number in view.trials().items():
            head, design = view.head(number), created_event(view, number).design
            status, n_recommendations, _ = summary_of(view, number)
            if (stop := stop_to_confirm(view, number)) is not None:
                status = f"{status}, look {stop.look + 1} recommends to stop"
            last = decode(view.records(number, after=head.position - 1, limit=1)[0].body)
            counts = [counted(n_recommendations, "recommendation"), counted(head.position, "record")]
            counts.append(f"the last at {last.at.isoformat(timespec='seconds')}")
            name = f"{name} (rehearsal)" if design.rehearsal else name
            typer.echo(f"{name}: {', '.join([status, *counts, rounded_numbers(design.policy)])}")


@app.command(short_help="Check that a log is unchanged.")
def verify(
    source: Source,
    name: TrialName = None,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="HASH", help="The head of an earlier export; it must be in the log."),
    ] = None,
    design: Annotated[
        Path | None,
        typer.Option("--design", metavar="FILE", help="The design that was planned; it must be the trial's."),
    ] = None,
    secret_file: SecretFileOption = None,
) -> None:
    """Check that a trial's log is unchanged and that the trial was looked at as designed. Name the first faulty
    record.

    Every record is checked against the hash chain, and pseudonyms and free text against their digests.

    \b
      adhere trial verify adhere.db                   every trial in the file; --trial headache: one
      adhere trial verify headache.log --head 5d41…   also detects a log whose end was cut off
      adhere trial verify headache.log --design headache.toml     also detects another design

    Every export and this command print the head. A log by itself does not show that its last records are missing, so
    store a head where the keepers of the log cannot change it. The exit status is 0 if all is well, otherwise 1.
    """
    from adhere.design.design import difference
    from adhere.design.design_file import load_design
    from adhere.trial.domain.events import created_event
    from adhere.trial.log import verify as verifying

    if head is not None and (len(head) != 64 or set(head.lower()) - set("0123456789abcdef")):
        raise InputError("--head", head, "the 64 hexadecimal digits that an export printed")
    planned = None if design is None else load_design(design)
    alone = head is not None or planned is not None
    with each_trial(source, name, alone=alone, secret_file=secret_file) as trials:
        for found in trials:
            with progress("verified") as on_progress:
                verdict = verifying.verify(found.view, found.number, head and head.lower(), on_progress)
            if verdict.fault:
                raise BrokenLogError(f"{found.name}, {verdict.fault}")
            if planned is not None and (what := difference(created_event(found.view, found.number).design, planned)):
                raise BrokenLogError(f"{found.name}, record 1: it is not the design in {design}: {what}")
            typer.echo(f"{found.name}: {counted(verdict.n_records, 'record')}, all as they were written")
            if verdict.n_looks:
                again = "what they found derived again, all the same"
                if verdict.n_derived < verdict.n_looks:
                    again = "what they found hangs on the policy, and 'adhere trial replay' derives it again"
                typer.echo(f"{counted(verdict.n_looks, 'look')}, each where the design has it; {again}")
            typer.echo(_SECRETS[verdict.secret])
            if planned is not None:
                typer.echo(f"it is the design in {design}, digest {planned.digest}")
            typer.echo(f"head {verdict.head}")


@app.command(short_help="Derive every recommendation again.")
def replay(
    source: Source, name: TrialName = None, secret_file: SecretFileOption = None, imports: Imports = None
) -> None:
    """Derive every recommendation and every look of a trial again, and name the first difference.

    Each is derived from the log up to the time it was made. The arm, probabilities and memo, or the findings of the
    look, must be the same.

    \b
      adhere trial replay adhere.db                   every trial in the file; --trial headache: one
      adhere trial replay headache.log

    The service keeps the secret that draws arms until it is revealed after the trial is closed. Without the secret,
    everything except the draws of the arms is derived again: every probability, every look, everything the policy
    learned. The same is checked for recommendations made by another version of an algorithm. The exit status is 0 if
    all is well, otherwise 1.
    """
    from adhere.compilation.kernel import without_garbage_collection
    from adhere.trial.log import replay as log_replay

    import_all(imports)
    with each_trial(source, name, secret_file=secret_file) as trials:
        for found in trials:
            with progress("replayed") as on_progress, _quietly(), without_garbage_collection():
                result = log_replay.replay(found.view, found.number, on_progress)
            if result.difference:
                raise BrokenLogError(f"{found.name}, {result.difference}")
            derived = (
                f"{counted(result.n_derived, 'recommendation')} derived again, arm and probabilities, all the same"
            )
            records = f"{found.name}: {counted(result.n_records, 'record')}"
            typer.echo(f"{records}; {derived}" if result.n_derived or not result.n_by_log else records)
            if result.n_by_log:
                checked = counted(result.n_by_log, "recommendation")
                typer.echo(
                    f"{checked} checked by probabilities, all the same; arms were not drawn again: the secret that "
                    "draws them is not revealed, and not kept here"
                )
            if result.n_by_probabilities:
                versions = "; ".join(sorted(result.other_versions))
                typer.echo(
                    f"{result.n_by_probabilities} were made by another version ({versions}; now "
                    f"{result.algorithm_version}): their "
                    "probabilities are the same, their arms were not derived again"
                )
            if result.n_fallbacks:
                typer.echo(
                    f"{result.n_fallbacks} had equal probabilities because the policy had failed; all the same"
                )
            if result.n_refused:
                refused = counted(result.n_refused, "update")
                typer.echo(f"{refused} refused by the policy and skipped; all the same")
            if result.n_looks:
                typer.echo(f"{counted(result.n_looks, 'look')} derived again, all the same")
            if result.n_imported:
                typer.echo(f"{result.n_imported} were imported from a table and not derived again")
            typer.echo(f"head {result.head}")


@contextmanager
def _quietly() -> Iterator[None]:
    """Hide the warnings about failures of a policy, which are in the log already."""
    warnings = logging.getLogger("adhere.trial")
    before = warnings.level
    warnings.setLevel(logging.ERROR)
    try:
        yield
    finally:
        warnings.setLevel(before)


@app.command(short_help="Explain one recommendation.")
def explain(
    source: Source,
    recommendation: Annotated[str, typer.Argument(metavar="ID", help="The recommendation's ID.")],
    name: TrialName = None,
) -> None:
    """Show everything in the log about one recommendation.

    This includes who asked and when, what the policy knew, the probability of each arm, and what was reported,
    corrected or imputed since.

    \b
      adhere trial explain adhere.db --trial headache 4K7T-9QXA-M98F-RJCB
    """
    from adhere.trial.log.explain import explain as explained

    with one_trial(source, name) as found:
        for line in explained(found.view, found.number, recommendation):
            typer.echo(line)


app.command(short_help="Show a trial's results so far.")(results)
app.command(short_help="Show the looks so far, and whether to stop.")(looks)
app.command(short_help="List who read what through the service.")(accesses)
app.command(short_help="Create the trial of a design.")(create)
app.command(short_help="Write a table or the log.")(export)
app.command("import", short_help="Import a log or a table.")(import_trial)
app.command(short_help="Reveal the secret of a closed trial.")(reveal)
app.command(short_help="Copy a file of trials that is in use.")(backup)
app.command(short_help="Restore a copy.")(restore)
app.command("new-epoch", short_help="Draw arms by a fresh secret from here on.")(new_epoch)
app.command("accept-loss", short_help="Continue without lost records.")(accept_loss)
