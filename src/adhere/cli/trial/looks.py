"""`adhere trial looks`: the looks at a trial so far, and whether one of them recommends to stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.trial.sources import Source, TrialName, one_trial
from adhere.report.numbers import counted

if TYPE_CHECKING:
    from adhere.trial.log.look_view import ArmAtLook, LookView


def looks(
    source: Source,
    name: TrialName = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, as GET /trials/…/looks gives them.")] = False,
) -> None:
    """The looks at a trial so far, as its design plans them: what was found of each arm, and whether to stop.

    \b
      adhere trial looks adhere.db                    --trial headache, if there are several
      adhere trial looks headache.log --json

    A look is recorded by itself when it is due: after so many outcomes, or after so many days. It only recommends:
    the trial goes on until a person ends it, with the reason (POST /trials/…/close, Client.end_trial).
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
            _show(look, is_last=look.look == planned)
        if (stop := recommended_stop(made)) is not None:
            what = f"{stop.decision}, with {stop.selected}" if stop.selected else stop.decision
            typer.echo(
                f"\nLook {stop.look} recommended to stop: {what}. The trial is closed."
                if is_closed
                else f"\nLook {stop.look} recommends to stop: {what}. A person confirms it by closing the trial."
            )
    if design.blinded and made:
        print("note: this trial is blinded, and its looks show its arms", file=sys.stderr)


def _show(look: LookView, *, is_last: bool) -> None:
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
    """What a number is compared with."""
    said = []
    for name, one in look.thresholds.items():
        if one.of == of and one.at_least is not None:
            said.append(f"{name} from {one.at_least:.5g}")
        elif one.of == of:
            said.append(f"{name} up to {one.at_most:.5g}")
    return f" ({', '.join(said)})" if said else ""
