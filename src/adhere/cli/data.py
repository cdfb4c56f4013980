"""`adhere data`: show the data that come with adhere, and check them against their source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.options import show_help, terminal_width
from adhere.errors import InputError
from adhere.report.text_table import UNBROKEN, paragraph, text_table

if TYPE_CHECKING:
    from adhere.populations.stroke import StrokeCount

_DIFFERENT = 1  # the exit status, as for diff

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Show the data that come with adhere, and check them against their source.

    Start with: adhere data stroke
    """
    show_help(context)


_WHERE = """\
The International Stroke Trial database (version 2), with one row for each
patient, is published by the University of Edinburgh:

  where    https://doi.org/10.7488/ds/104 (Edinburgh DataShare)
  file     IST_corrected.csv
  licence  Open Data Commons Attribution (ODC-By): credit the source wherever
           a figure derived from it is shown
  credit   Sandercock, Niewada, Członkowska (2011)
  about    Trials 12:101 (2011), with an erratum in Trials 13:24 (2012)

Download the file (unpack it if it comes as .zip; .csv.gz is fine), then

  adhere data stroke --from IST_corrected.csv

derives the counts from it and compares them with the shipped ones."""


@app.command(short_help="The International Stroke Trial.")
def stroke(
    published: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            readable=False,
            help="Derive the counts from the published file (.csv or .csv.gz) and compare.",
        ),
    ] = None,
    where: Annotated[bool, typer.Option("--where", help="Show where to download the published file.")] = False,
) -> None:
    """Show the counts of the International Stroke Trial that come with adhere, or derive them again.

    \b
      adhere data stroke                           the counts, and who complied
      adhere data stroke --where                   where to get the published file
      adhere data stroke --from IST_corrected.csv  derive and compare the counts

    With --from, the exit status is 0 if the counts equal the shipped ones, 1 if they differ, and 2 if the file cannot
    be used.
    """
    from adhere.populations.stroke import SOURCE, counts_from_published, shipped_counts

    if published is not None and where:
        raise InputError("--from", str(published), "no file together with --where")
    if where:
        typer.echo(_WHERE)
        return
    shipped = shipped_counts()
    counts = shipped if published is None else counts_from_published(published)
    if not any(row.patients for row in counts):
        raise InputError("--from", str(published), "a file with at least one patient whose compliance is known")
    source = paragraph(f"data: {SOURCE}", terminal_width())
    origin = "as shipped with adhere" if published is None else f"derived from {published}"
    typer.echo(f"International Stroke Trial, alive or dead at 14 days, {origin}\n")
    typer.echo(f"{_table(counts)}\n\n{_compliance(counts)}\n\n{source}")
    if published is None:
        return
    if counts == shipped:
        typer.echo("\nthe same as the shipped counts")
    else:
        typer.echo(
            f"\nnot the same as the shipped counts, which differ in these rows:\n{_differences(counts, shipped)}"
        )
        raise typer.Exit(_DIFFERENT)


def _table(counts: Sequence[StrokeCount]) -> str:
    """Return the counts and the totals of each trial as a text table."""
    rows = [["trial", "allocated", "taken", "survived", "died", "patients"]]
    for trial in dict.fromkeys(row.trial for row in counts):
        group = [[*row, row.patients] for row in counts if row.trial == trial]
        total = [trial, "all", "all", *(sum(numbers) for numbers in list(zip(*group, strict=True))[3:])]
        rows += [[*row[:3], *(f"{number:,}" for number in row[3:])] for row in (*group, total)]
    return text_table(rows, UNBROKEN, "lllr", indent="")


def _compliance(counts: Sequence[StrokeCount]) -> str:
    from adhere.report.numbers import share

    rows = [["trial", "allocated", "patients", "complied", "share [95% interval]"]]
    for trial, allocated in dict.fromkeys((row.trial, row.allocated) for row in counts):
        group = [row for row in counts if (row.trial, row.allocated) == (trial, allocated)]
        patients = sum(row.patients for row in group)
        complied = sum(row.patients for row in group if row.taken == allocated)
        who_complied = share(complied, patients).percent() if patients else "nobody"
        rows.append([trial, allocated, f"{patients:,}", f"{complied:,}", who_complied])
    return text_table(rows, UNBROKEN, "llr", indent="")


def _differences(counts: Sequence[StrokeCount], shipped: Sequence[StrokeCount]) -> str:
    """Return the rows with other counts in the file than in the shipped table, with both counts."""
    rows = [["trial", "allocated", "taken", "survived", "shipped", "died", "shipped"]]
    for theirs, ours in zip(counts, shipped, strict=True):
        if theirs != ours:
            numbers = (theirs.survived, ours.survived, theirs.died, ours.died)
            rows.append([*theirs[:3], *(f"{number:,}" for number in numbers)])
    return text_table(rows, UNBROKEN, "lllr", indent="")
