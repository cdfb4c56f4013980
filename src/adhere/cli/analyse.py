"""`adhere analyse`: analyse the records of a trial by every view."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.destinations import check_outputs, print_results, write_files
from adhere.cli.options import (
    Actual,
    ArmsInOrder,
    Chosen,
    CountColumn,
    Imports,
    Reward,
    column_option,
    counting,
    import_all,
    integer_option,
    naming_options,
    number_option,
    output_option,
    terminal_width,
    with_groups,
)
from adhere.cli.trial.sources import TrialName, damage_as_broken_log

_N_REDRAWS = 10_000  # the default of randomisation_test, whose import would load the compiler


@dataclass(frozen=True)
class AnalysisOptions:
    """Options that are arguments of `adhere.analyse`."""

    chosen: Chosen = None
    actual: Actual = None
    reward: Reward = None
    propensity: Annotated[
        str | None,
        column_option(
            "The column with the probability of the arm assigned, or the common beginning of the names of columns "
            "with the probability of each arm."
        ),
    ] = None
    stratum: Annotated[str | None, column_option("The column with the stratum. For a log: site.")] = None
    time: Annotated[
        str | None,
        column_option(
            "The column with the order in which arms were assigned: a number, a date or a time. Rows with the same "
            "value have no order."
        ),
    ] = None
    count: CountColumn = None
    subject: Annotated[str | None, column_option("The column with the subject, to find repeated subjects.")] = None
    arms: ArmsInOrder = None
    control: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="The arm to compare the others with.  "
            "[default: the design's, otherwise placebo or the like, otherwise the first]",
        ),
    ] = None
    level: Annotated[float, number_option("The level of all intervals.")] = 0.95
    margin: Annotated[
        float,
        number_option(
            "The largest difference by arm assigned, given the arm taken, that counts as no difference.",
            metavar="D",
        ),
    ] = 0.05
    lower_is_better: Annotated[
        bool,
        typer.Option(
            "--lower-is-better",
            help="A lower outcome is better, for example if 1 is a death: read an outcome y as 1 - y.  "
            "[default: as in the design of a live trial or in an exported table]",
        ),
    ] = False
    fixed_allocation: Annotated[
        bool,
        typer.Option(
            "--fixed-allocation",
            help="Declare that arms were assigned with probabilities fixed in advance and that this is the only "
            "look, if the records do not show it.",
        ),
    ] = False
    redraws: Annotated[int, integer_option("Redraws of the randomisation test, which needs a log. 0: no test.")] = (
        _N_REDRAWS
    )


@with_groups
def analyse(
    *,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL",
            help="A table (.csv, .csv.gz, .tsv, .parquet), a log that 'adhere trial export' wrote, a file of trials, "
            "or postgresql://…. Or stroke-aspirin or stroke-heparin, whose counts come with adhere.",
        ),
    ],
    name: TrialName = None,
    html: Annotated[Path | None, output_option("Write a page with figures, one file for any browser.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write everything as JSON (-: to standard output).")
    ] = None,
    options: AnalysisOptions,
    imports: Imports = None,
) -> None:
    """Estimate what the treatment did, when not everybody took it and the allocation may have adapted.

    Read for each patient the arm assigned (chosen), the arm taken (actual) and the outcome (reward, from 0 to 1; 1 is
    the best unless --lower-is-better is given). Show every view side by side with intervals: intention-to-treat,
    compliers, as-treated, per-protocol, and bounds without assumptions about who complies. Explain which of them can
    be trusted here. If the records have the probability of each arm, as the log of a live trial has, some intervals
    are valid for adaptive allocation, whenever the trial stops.

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

    The page and the JSON contain a digest of the data and adhere's version, but no date: the same data give the same
    bytes. docs/explanation/analysis-views.md explains the views and their assumptions.
    """
    check_outputs({"--json": json_file, "--html": html}, [Path(source)], read_as="the data")
    import_all(imports)

    from adhere.analysis.output.to_json import json_text
    from adhere.record_sources import analyse as run

    def progress(n_redraws: int) -> str:
        test = f"randomisation test: {n_redraws:,} of {options.redraws:,} redraws"
        return test if n_redraws else "reading and analysing"

    given = asdict(options) | {"lower_is_better": options.lower_is_better or None}
    with naming_options(), damage_as_broken_log(), counting(progress) as on_progress:
        found = run(source, name, on_progress=on_progress, **given)
        page = {} if html is None else {html: found.to_html().encode()}
    summary = found.summary(terminal_width(100))
    write_files(print_results(summary, json_text(found), json_file) | page)
