"""`adhere trial results`, `looks` and `accesses`: show a trial's results and looks so far, and who read them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import check_outputs, print_results, write_files
from adhere.cli.options import STANDARD_OUTPUT, Imports, import_all, terminal_width
from adhere.cli.trial.sources import Source, TrialName, each_trial, one_trial
from adhere.errors import InputError
from adhere.report.numbers import counted, rounded_numbers
from adhere.report.text_table import UNBROKEN, paragraph, text_table

if TYPE_CHECKING:
    from adhere.trial.log.look_view import ArmAtLook, LookView
    from adhere.trial.monitoring.results import ArmEstimate, Compliance, Results
    from adhere.trial.sources import TrialInView

_MAX_COLUMNS = 6  # arms with their own column


def results(
    source: Source,
    name: TrialName = None,
    json_file: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE|-", help="Write the results as JSON (-: to standard output)."),
    ] = None,
    imports: Imports = None,
) -> None:
    """Show the results so far.

    These are the mean reward of each arm in three analysis sets with 95% intervals, the arms taken by arm chosen, and
    the probability of each arm at the next recommendation.

    \b
      adhere trial results adhere.db                    --trial headache, if there are several
      adhere trial results headache.log --json -        the same numbers as GET /trials/headache/results
    """
    import msgspec

    from adhere.trial.domain.events import created_event
    from adhere.trial.log.look_view import stop_to_confirm
    from adhere.trial.monitoring.results import results_of
    from adhere.trial.writing.snapshot import summary_of

    check_outputs({"--json": json_file})
    import_all(imports)
    with one_trial(source, name) as found:
        created = created_event(found.view, found.number)
        design, engine = created.design, created.recorded_engine()
        status = summary_of(found.view, found.number).status
        if (stop := stop_to_confirm(found.view, found.number)) is not None:
            status = f"{status}, look {stop.look + 1} recommends to stop"
        found_results = results_of(found.view, found.number, design, engine)
    text = msgspec.json.format(msgspec.json.encode(found_results), indent=2).decode() + "\n"
    summary = "\n".join(_result_lines(found_results, design.policy, status, engine.estimated)) + "\n"
    write_files(print_results(summary, text, json_file))
    if design.blinded and json_file != STANDARD_OUTPUT:
        print("note: this trial is blinded, and these results show its arms", file=sys.stderr)


def _result_lines(found: Results, policy: str, status: str, estimated: bool) -> Iterator[str]:
    from adhere.analysis.records import REHEARSAL

    width = terminal_width()
    if found.rehearsal:
        yield f"{REHEARSAL}\n"
    title = f"{found.trial}: {status}, {rounded_numbers(policy)}, {counted(found.recommendations, 'recommendation')}"
    in_error = f", {found.entered_in_error:,} entered in error" if found.entered_in_error else ""
    lost = f"{found.lost_to_follow_up:,} lost to follow-up{in_error}"
    yield f"{title} ({found.complete:,} complete, {found.waiting:,} waiting, {lost})\n"
    sets = (found.intention_to_treat, found.as_treated, found.per_protocol)
    rows = [["", "intention-to-treat", "as-treated *", "per-protocol *"]]
    rows += [[arms[0].arm, *map(_estimate, arms)] for arms in zip(*sets, strict=True)]
    better = " (lower is better)" if found.lower_is_better else ""
    yield f"Mean reward{better} [95% interval], patients\n{text_table(rows, UNBROKEN)}\n"
    yield f"What was taken, by the arm chosen\n{text_table(_taken(found.compliance), UNBROKEN)}\n"
    if status != "closed":
        probabilities = ", ".join(f"{arm} {_probability(p)}" for arm, p in found.probabilities.items())
        how = " (estimated by drawing)" if estimated else ""
        sentence = f"Probability of each arm at the next recommendation{how}: {probabilities}"
        yield paragraph(sentence, width) + "\n"
    yield paragraph(
        "* no estimand without further assumptions: those who do as they are told differ from those who do not.",
        width,
    )
    for count, sentence in (
        (found.imputed_parts, "values (imputed_parts) were not reported; the trial's rule assumes them."),
        (found.fallbacks, "arms were drawn with equal probabilities, because the policy had failed."),
        (found.refused_updates, "updates were refused by the policy."),
    ):
        if count:
            yield paragraph(f"{count:,} {sentence}", width)
    yield paragraph(found.note, width)


def _estimate(one: ArmEstimate) -> str:
    return "none yet" if one.mean is None else f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}] {one.n:,}"


def _probability(p: float) -> str:
    """Return a probability with three decimals, never rounded to 0 or to 1."""
    if 0.0 < p < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 <= p < 1.0 else f"{p:.3f}"


def _percent(share: float) -> str:
    """Return a share in per cent, with a decimal if it would otherwise be rounded to 0% or 100%.

    >>> [_percent(share) for share in (0, 1 / 227, 0.42, 226 / 227, 1)]
    ['0%', '0.4%', '42%', '99.6%', '100%']
    """
    whole = f"{share:.0%}"
    return f"{share:.1%}" if whole in ("0%", "100%") and 0.0 < share < 1.0 else whole


def _taken(rows: Sequence[Compliance]) -> list[list[str]]:
    """Return the rows of arms taken, with a column per arm. With many arms, one column counts all other arms."""
    arms, apart = [row.chosen for row in rows], len(rows) <= _MAX_COLUMNS
    taken = arms if apart else ["it", "another arm"]
    lines = [["chosen", *taken, "took nothing", "took other", "unknown", "took it [95% interval]"]]
    for row in rows:
        by_arm = [row.took[arm] for arm in arms]
        own = row.took[row.chosen]
        counts = [*(by_arm if apart else (own, sum(by_arm) - own)), row.took_nothing, row.took_other, row.unknown]
        share = "none reported" if row.share is None else _share(row.share, row.low, row.high)
        lines.append([row.chosen, *(f"{count:,}" for count in counts), share])
    return lines


def _share(share: float, low: float, high: float) -> str:
    return f"{_percent(share)} [{_percent(low)}, {_percent(high)}]"


def looks(
    source: Source,
    name: TrialName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as GET /trials/…/looks returns it.")] = False,
) -> None:
    """Show the looks at a trial that its design planned: the findings for each arm, and whether to stop.

    \b
      adhere trial looks adhere.db                    --trial headache, if there are several
      adhere trial looks headache.log --json

    A look is recorded automatically when it is due, after a number of outcomes or of days. A look only recommends a
    stop: the trial continues until a person ends it, with a reason (POST /trials/…/close, Client.end_trial).
    """
    import msgspec

    from adhere.analysis.records import REHEARSAL
    from adhere.design.planned_looks import planned_looks
    from adhere.trial.domain.events import created_event
    from adhere.trial.log.look_view import logged_looks, recommended_stop
    from adhere.trial.writing.snapshot import summary_of

    with one_trial(source, name) as found:
        design = created_event(found.view, found.number).design
        made = logged_looks(found.view, found.number, design)
        is_closed = summary_of(found.view, found.number).status == "closed"
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
    else:
        if design.rehearsal:
            typer.echo(REHEARSAL)
        planned = planned_looks(design)
        typer.echo(f"{found.name}: {counted(len(made), 'look')} of {planned} planned")
        for look in made:
            _print_look(look, is_last=look.look == planned)
        if (stop := recommended_stop(made)) is not None:
            what = f"{stop.decision}, with {stop.selected}" if stop.selected else stop.decision
            typer.echo(
                f"\nLook {stop.look} recommended to stop: {what}. The trial is closed."
                if is_closed
                else f"\nLook {stop.look} recommends to stop: {what}. A person confirms it by closing the trial."
            )
    if design.blinded and made:
        print("note: this trial is blinded, and its looks show its arms", file=sys.stderr)


def _print_look(look: LookView, *, is_last: bool) -> None:
    counts = f"{counted(look.outcomes, 'outcome')} of {counted(look.recommendations, 'recommendation')}"
    decision = "the end, without a stop" if is_last and not look.is_stop else look.decision
    typer.echo(f"\nLook {look.look}, {look.at:%Y-%m-%d %H:%M}, {counts} (record {look.record}): {decision}")
    width = max(len(one.arm) for one in look.arms)
    for one in look.arms:
        typer.echo(f"  {one.arm:<{width}}  {_arm(one, look)}".rstrip())


def _arm(one: ArmAtLook, look: LookView) -> str:
    values = [f"{name} {value:.5g}{_thresholds(look, name)}" for name, value in one.values.items()]
    share = [] if one.share is None else [f"share {one.share:.3f}"]
    return "  ".join([f"{one.status:<10}", *values, *share])


def _thresholds(look: LookView, of: str) -> str:
    """Return the thresholds that a number is compared with, as text."""
    said = []
    for name, one in look.thresholds.items():
        if one.of == of and one.at_least is not None:
            said.append(f"{name} from {one.at_least:.5g}")
        elif one.of == of:
            said.append(f"{name} up to {one.at_most:.5g}")
    return f" ({', '.join(said)})" if said else ""


def accesses(source: Source, name: TrialName = None) -> None:
    """List who read results and exports of a trial and, if it is blinded, everything that reveals an arm.

    In a blinded trial these are: one recommendation, the arms' names (kind 'trial'), an unblinding, and an admin's
    report, whose response discloses whether another arm was reported before.

    \b
      adhere trial accesses adhere.db                 every trial in the file; --trial headache: one
      adhere trial accesses postgresql://…

    Each read is a row. Reads of results and of the trial are counted per token in windows of ten minutes, and listed
    with the beginning of the window. 'head' is the hash of the last record at the read: the reader saw nothing after
    it. A service writes the row before it answers. Commands that read the file itself, like this one, write no row:
    anyone who may read the file can see all of it.
    """
    from adhere.trial.sources import is_log_file

    if is_log_file(source):
        raise InputError("source", source, "a file of trials or postgresql://…; an exported log has no access log")
    with each_trial(source, name) as trials:
        for found in trials:
            _print_accesses(found)


def _print_accesses(found: TrialInView) -> None:
    from adhere.store.access import accesses as some

    rows = [("time", "token", "label", "kind", "recommendation", "count", "head")]
    after = 0
    while page := some(found.view, found.number, after):
        for row in page:
            number = "-" if row.recommendation_id is None else str(row.recommendation_id)
            at = row.at.partition(".")[0] + "Z"
            rows.append((at, str(row.token), row.label, row.kind, number, str(row.n), row.head.hex()))
        after = page[-1].id
    typer.echo(f"{found.name}: {'no reads' if len(rows) == 1 else 'reads'}")
    if len(rows) > 1:
        typer.echo(text_table(rows, UNBROKEN, "l", indent=""))
