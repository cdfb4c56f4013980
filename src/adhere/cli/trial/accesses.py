"""`adhere trial accesses`: who read what of a trial through the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from adhere.cli.trial.sources import Source, TrialName, each_trial
from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.trial.sources import TrialInView

_COLUMNS = ("time", "token", "label", "kind", "recommendation", "count", "head")


def accesses(source: Source, name: TrialName = None) -> None:
    """Who read results and exports of a trial and, if it is blinded, all that reveals an arm: one recommendation, the
    arms' names (kind 'trial'), an unblinding, an admin's report, whose answer tells whether another arm was reported
    before.

    \b
      adhere trial accesses adhere.db                 every trial in the file; --trial headache: one
      adhere trial accesses postgresql://…

    Each read is a row, but those of results and of the trial are counted for each token and ten minutes, under the
    time at which these begin. 'head' is the hash of the last record at the read: nothing after it was seen. A service
    writes a row before it answers. Commands that read the file itself, as this one does, write none: whoever may read
    the file can see all of it.
    """
    from adhere.trial.sources import is_log_file

    if is_log_file(source):
        raise InputError("source", source, "a file of trials or postgresql://…; an exported log has no access log")
    with each_trial(source, name) as trials:
        for found in trials:
            _show(found)


def _show(found: TrialInView) -> None:
    from adhere.store.access import accesses as some

    rows = [_COLUMNS]
    after = 0
    while page := some(found.view, found.number, after):
        for row in page:
            number = "-" if row.recommendation_id is None else str(row.recommendation_id)
            at = row.at.partition(".")[0] + "Z"
            rows.append((at, str(row.token), row.label, row.kind, number, str(row.n), row.head.hex()))
        after = page[-1].id
    typer.echo(f"{found.name}: {'no reads' if len(rows) == 1 else 'reads'}")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for line in rows if len(rows) > 1 else []:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
