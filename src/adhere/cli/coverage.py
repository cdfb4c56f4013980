"""`adhere coverage`: check whether the intervals of `adhere analyse` hold."""

import time
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.destinations import check_folder
from adhere.cli.options import Seed, duration, integer_option, naming_options, output_option, terminal_width


def coverage(
    quick: Annotated[bool, typer.Option("--quick", help="Few trials, for a first look: about a minute.")] = False,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Analyse ten synthetic trials: judge every set and sentence."),
    ] = False,
    replications: Annotated[int, integer_option("Tables of each synthetic trial, with --synthetic.")] = 200,
    seed: Seed = 0,
    processes: Annotated[int | None, integer_option("Processes to use.  [default: one for each core]")] = None,
    out: Annotated[Path, output_option("The folder for tables and page.", metavar="FOLDER")] = Path("coverage"),
) -> None:
    """Count how often the intervals of `adhere analyse` contain the truth, in thousands of trials with known truth.

    The fixed designs have 200 or 1,000 patients per arm, with 10,000 trials each. Their populations have every kind
    of non-compliance, rare outcomes, no effect, or hardly any compliers. There are also 2,000 adaptive trials under
    each of eight policies, with outcomes that come late or never. A run takes about ten minutes on two free cores:

    \b
      adhere coverage --quick --out quick     a first look, in about a minute
      adhere coverage                         everything, into the folder coverage

    The command writes a page, index.html, its tables into the folder data, as CSV and Parquet, and the judgements as
    a Markdown table, summary.md. Intervals that do not keep their promise are marked ✗ there and in the printed
    summary.

    With --synthetic, the command analyses ten synthetic trials with a known truth (strata, missing outcomes, hardly
    any compliers, defiers, drift) like a user's tables. It checks every set and every sentence that the analysis
    prints, and writes them to synthetic.txt and the folder data. This takes about ten minutes on one core:

    \b
      adhere coverage --synthetic --out synthetic
    """
    check_folder("--out", out)
    if synthetic:
        _synthetic(out, replications, seed)
        return
    from adhere.studies.coverage.coverage import coverage as run
    from adhere.studies.coverage.judgements import judge, summary

    with naming_options():
        done = run(out, quick=quick, seed=seed, n_processes=processes)
    judged = summary(judge(done.tables), terminal_width())
    where = f"page:   {done.page}\ntables: {done.page.parent / 'data'}"
    typer.echo(f"{judged}\n\n{where}\ntook:   {duration(done.seconds)}")


def _synthetic(out: Path, replications: int, seed: int) -> None:
    from adhere.studies.coverage.synthetic.study import summary, synthetic_trials

    began = time.perf_counter()
    with naming_options():
        found = synthetic_trials(out, replications=replications, seed=seed)
    typer.echo(summary(found, terminal_width(), details=False))
    took = duration(time.perf_counter() - began)
    typer.echo(f"\nevery set and sentence: {out / 'synthetic.txt'}\ntables: {out / 'data'}\ntook:   {took}")
