"""`adhere analyse`: what the records of a trial say, by every view."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.destinations import check_file, check_page, write_files
from adhere.cli.options import (
    STANDARD_OUTPUT,
    Actual,
    ArmsInOrder,
    Chosen,
    CountColumn,
    Imports,
    Reward,
    import_all,
    integer,
    naming_options,
    number,
)
from adhere.cli.trial.sources import TrialName, whole
from adhere.errors import InputError

_WIDTH = 100  # letters, where no terminal says how wide it is
_N_REDRAWS = 10_000  # as randomisation_test has it, which would load the compiler

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def analyse(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL",
            help="A table (.csv, .csv.gz, .tsv, .parquet), a log that 'adhere trial export' wrote, a file of trials, "
            "or postgresql://…; or stroke-aspirin or stroke-heparin, trials whose counts come with adhere.",
        ),
    ],
    name: TrialName = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write a page with figures, one file for any browser."),
    ] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write everything as JSON; - for standard output.")
    ] = None,
    chosen: Chosen = None,
    actual: Actual = None,
    reward: Reward = None,
    propensity: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the probability of the arm assigned, or how the names of those with the "
            "probability of each arm begin.",
        ),
    ] = None,
    stratum: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the stratum; of a log: site.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the order in which arms were assigned: a number, a date or a time. Rows with "
            "the same value are taken as in no order.",
        ),
    ] = None,
    count: CountColumn = None,
    subject: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with who it was, to find who comes twice.")
    ] = None,
    arms: ArmsInOrder = None,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="The arm to compare the others with.  [default: the design's, placebo or the like, else the first]",
        ),
    ] = None,
    level: Annotated[float, typer.Option(metavar="P", parser=number, help="The level of all intervals.")] = 0.95,
    margin: Annotated[
        float,
        typer.Option(
            metavar="D",
            parser=number,
            help="Up to which difference outcomes given the arm taken count as not depending on the arm assigned.",
        ),
    ] = 0.05,
    lower_is_better: Annotated[
        bool,
        typer.Option(
            "--lower-is-better",
            help="A lower outcome is better, as where 1 is a death: read an outcome y as 1 - y.  [default: as the "
            "design of a live trial or an exported table says]",
        ),
    ] = False,
    fixed_allocation: Annotated[
        bool,
        typer.Option(
            "--fixed-allocation",
            help="Declare that arms were assigned with probabilities fixed in advance and that this is the only "
            "look, where the records do not say it.",
        ),
    ] = False,
    redraws: Annotated[
        int,
        typer.Option(
            metavar="N", parser=integer, help="Redraws of the randomisation test, which needs a log; 0: no test."
        ),
    ] = _N_REDRAWS,
    imports: Imports = None,
) -> None:
    """What did the treatment do, when not everybody took it and the allocation may have adapted?

    Reads who was assigned what (chosen), took what (actual) and with which outcome (reward, from 0 to 1, where 1 is
    the better end; --lower-is-better turns it round), and shows every view side by side with intervals:
    intention-to-treat, compliers, as-treated, per-protocol, bounds that assume nothing of who complies; then says
    which of them can be trusted here. With the probability of each arm (a live trial logs it) there are intervals
    that hold for adaptive allocation, whenever one stops.

    \b
      adhere analyse stroke-aspirin
      adhere analyse trial.csv
      adhere analyse trial.csv --html trial.html --json trial.json
    \b
      adhere analyse adsl.parquet --chosen TRT01P --actual TRT01A --reward CURED \\
        --stratum SITEID --control placebo
    \b
      adhere analyse adhere.db --trial headache --html headache.html
      adhere analyse headache.log --redraws 100000

    The page and the JSON have a digest of the data and adhere's version, but no date: the same data give the same
    bytes. docs/analysis.md has the formulas and what they assume.
    """
    json_path = Path(json_file) if json_file not in (None, STANDARD_OUTPUT) else None
    _check_destinations(source, html, json_path)
    import_all(imports)

    from adhere.analysis.output.to_json import json_text
    from adhere.record_sources import analyse as run

    with naming_options(), whole(), _progress(redraws) as on_progress:
        found = run(
            source,
            name,
            arms=arms,
            control=control,
            level=level,
            margin=margin,
            lower_is_better=lower_is_better or None,
            fixed_allocation=fixed_allocation,
            redraws=redraws,
            on_progress=on_progress,
            chosen=chosen,
            actual=actual,
            reward=reward,
            propensity=propensity,
            stratum=stratum,
            time=time,
            count=count,
            subject=subject,
        )
        contents = {} if json_path is None else {json_path: json_text(found).encode()}
        if html is not None:
            contents[html] = found.to_html().encode()
    width = shutil.get_terminal_size((_WIDTH, 24)).columns
    said = json_text(found) if json_file == STANDARD_OUTPUT else found.summary(width)
    write_files(contents, before=lambda: typer.echo(said, nl=False))


def _check_destinations(source: str, html: Path | None, json_path: Path | None) -> None:
    """Find out before the work, not after it, that its results cannot be kept."""
    if json_path is not None:
        check_file("--json", json_path)
    if html is not None:
        if str(html) == STANDARD_OUTPUT:
            raise InputError("--html", STANDARD_OUTPUT, "a file: a page is not for a terminal")
        check_page("--html", html)
        if json_path is not None and html.resolve() == json_path.resolve():
            raise InputError("--html", str(html), "another file than --json")
    for option, path in (("--html", html), ("--json", json_path)):
        if path is not None and path.exists() and Path(source).exists() and path.samefile(source):
            raise InputError(option, str(path), "another file than the data")


@contextmanager
def _progress(n_redraws: int) -> Iterator[Callable[[int], None]]:
    """What is being done, on a terminal; called with the number of further redraws."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("reading and analysing", total=None)

        def advance(n: int) -> None:
            shown.advance(task, n)
            done = round(shown.tasks[0].completed)
            shown.update(task, description=f"randomisation test: {done:,} of {n_redraws:,} redraws")

        yield advance
