"""`adhere trial results`: what a trial says so far, in three analysis sets."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import check_file, write_files
from adhere.cli.options import STANDARD_OUTPUT, Imports, import_all
from adhere.cli.trial.sources import Source, TrialName, one_trial
from adhere.report.numbers import counted, rounded_numbers
from adhere.report.text_table import paragraph

if TYPE_CHECKING:
    from adhere.trial.monitoring.results import ArmEstimate, Compliance, Results

_MAX_COLUMNS = 6  # arms with a column of their own


def results(
    source: Source,
    name: TrialName = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write them as JSON; - for standard output.")
    ] = None,
    imports: Imports = None,
) -> None:
    """What a trial says so far: the mean reward of each arm in three analysis sets with 95% intervals, what was taken
    where each arm was chosen, and the probability of each arm at the next recommendation.

    \b
      adhere trial results adhere.db                    --trial headache, if there are several
      adhere trial results headache.log --json -        the same numbers as GET /trials/headache/results
    """
    import msgspec

    from adhere.trial.domain.events import created_event
    from adhere.trial.log.look_view import stop_to_confirm
    from adhere.trial.monitoring.results import results_of
    from adhere.trial.writing.snapshot import summary_of

    to_file = Path(json_file) if json_file not in (None, STANDARD_OUTPUT) else None
    if to_file is not None:
        check_file("--json", to_file)
    import_all(imports)
    with one_trial(source, name) as found:
        created = created_event(found.view, found.number)
        design, engine = created.design, created.recorded_engine()
        status = summary_of(found.view, found.number).status
        if (stop := stop_to_confirm(found.view, found.number)) is not None:
            status = f"{status}, look {stop.look + 1} recommends to stop"
        found_results = results_of(found.view, found.number, design, engine)
    text = msgspec.json.format(msgspec.json.encode(found_results), indent=2) + b"\n"
    if json_file == STANDARD_OUTPUT:
        typer.echo(text.decode(), nl=False)
        return
    write_files(
        {to_file: text} if to_file else {}, lambda: _show(found_results, design.policy, status, engine.estimated)
    )
    if design.blinded:
        print("note: this trial is blinded, and these results show its arms", file=sys.stderr)


def _show(found: Results, policy: str, status: str, estimated: bool) -> None:
    from adhere.analysis.records import REHEARSAL

    if found.rehearsal:
        typer.echo(f"{REHEARSAL}\n")
    title = f"{found.trial}: {status}, {rounded_numbers(policy)}, {counted(found.recommendations, 'recommendation')}"
    in_error = f", {found.entered_in_error:,} entered in error" if found.entered_in_error else ""
    lost = f"{found.lost_to_follow_up:,} lost to follow-up{in_error}"
    typer.echo(f"{title} ({found.complete:,} complete, {found.waiting:,} waiting, {lost})\n")
    sets = (found.intention_to_treat, found.as_treated, found.per_protocol)
    rows = [["", "intention-to-treat", "as-treated *", "per-protocol *"]]
    rows += [[arms[0].arm, *map(_estimate, arms)] for arms in zip(*sets, strict=True)]
    better = " (lower is better)" if found.lower_is_better else ""
    typer.echo(f"Mean reward{better} [95% interval], patients\n{_aligned(rows)}\n")
    typer.echo(f"What was taken, by the arm chosen\n{_aligned(_taken(found.compliance))}\n")
    if status != "closed":
        probabilities = ", ".join(f"{arm} {_probability(p)}" for arm, p in found.probabilities.items())
        how = " (estimated by drawing)" if estimated else ""
        said = f"Probability of each arm at the next recommendation{how}: {probabilities}"
        typer.echo(paragraph(said, shutil.get_terminal_size().columns) + "\n")
    for sentence in _notes(found):
        typer.echo(paragraph(sentence, shutil.get_terminal_size().columns))


def _estimate(one: ArmEstimate) -> str:
    return "none yet" if one.mean is None else f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}] {one.n:,}"


def _probability(p: float) -> str:
    """With three decimals; what is not certain does not look so."""
    if 0.0 < p < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 <= p < 1.0 else f"{p:.3f}"


def _percent(share: float) -> str:
    """Whole percents; with a decimal where they would say all or none, which it is not.

    >>> [_percent(share) for share in (0, 1 / 227, 0.42, 226 / 227, 1)]
    ['0%', '0.4%', '42%', '99.6%', '100%']
    """
    whole = f"{share:.0%}"
    return f"{share:.1%}" if whole in ("0%", "100%") and 0.0 < share < 1.0 else whole


def _taken(rows: Sequence[Compliance]) -> list[list[str]]:
    """A column for each arm, or for many arms one for all other arms together."""
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


def _notes(found: Results) -> list[str]:
    said = ["* no estimand without further assumptions: those who do as they are told differ from those who do not."]
    if found.imputed_parts:
        said.append(
            f"{found.imputed_parts:,} values (imputed_parts) were not reported; the trial's rule assumes them."
        )
    if found.fallbacks:
        said.append(f"{found.fallbacks:,} arms were drawn with equal probabilities, as the policy had failed.")
    if found.refused_updates:
        said.append(f"{found.refused_updates:,} updates were refused by the policy.")
    return [*said, found.note]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])] + [cell.rjust(wide) for cell, wide in zip(others, widths[1:], strict=True)]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)
