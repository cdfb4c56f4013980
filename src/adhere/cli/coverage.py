"""`adhere coverage`: do the intervals of `adhere analyse` hold?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import check_folder
from adhere.cli.options import Seed, integer, naming_options
from adhere.cli.times import duration

if TYPE_CHECKING:
    from adhere.studies.coverage.written import Coverage

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def coverage(
    quick: Annotated[bool, typer.Option("--quick", help="Few trials, for a first look: about a minute.")] = False,
    seed: Seed = 0,
    processes: Annotated[
        int | None,
        typer.Option(metavar="N", parser=integer, help="Processes to use.  [default: one for each core]"),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", readable=False, help="Where tables and page go.")] = Path(
        "coverage"
    ),
) -> None:
    """Analyse thousands of trials whose truth is known, and count how often each interval of `adhere analyse` holds
    it.

    Fixed designs with 200 or 1,000 patients an arm, 10,000 trials each, on populations with every kind of
    non-compliance, rare outcomes, no effect and hardly any compliers; and 2,000 adaptive trials under each of eight
    policies, with outcomes that come late or never. About ten minutes on two free cores:

    \b
      adhere coverage --quick --out quick     a first look, in about a minute
      adhere coverage                         everything, into the folder coverage

    Leaves a page, index.html, its tables in the folder data, as CSV and Parquet, and the judgements as a table of
    Markdown, summary.md. An interval that does not keep its promise is marked ✗, there and in what is printed.
    """
    check_folder("--out", out)
    from adhere.studies.coverage.coverage import coverage as run

    with naming_options():
        done = run(out, quick=quick, seed=seed, n_processes=processes)
    typer.echo(_summary(done))


def _summary(done: Coverage) -> str:
    from adhere.studies.coverage.judgements import judge
    from adhere.studies.coverage.summary import summary

    judged = summary(judge(done.tables), shutil.get_terminal_size().columns)
    return f"{judged}\n\npage:   {done.page}\ntables: {done.page.parent / 'data'}\ntook:   {duration(done.seconds)}"
