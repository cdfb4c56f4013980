"""`adhere design`: simulate how a trial would behave before its first patient."""

import shlex
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.design.options import DesignFile, Simulated, read_design
from adhere.cli.design.search import calibrate, size
from adhere.cli.destinations import table_file, write_files
from adhere.cli.options import Imports, Machines, import_all, output_option, show_help, terminal_width, with_groups
from adhere.errors import InputError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def design(context: typer.Context) -> None:
    """Simulate how a trial would behave: error, power, size, duration, and who gets which arm.

    A design is a file. The trial that you run is the one that you simulated: 'adhere trial create' takes the same
    file.

    \b
      adhere design example > trial.toml            a file to begin with, explained line by line
      adhere design describe trial.toml             the design in words
      adhere design calibrate trial.toml --type-one 0.05 --out calibrated.toml
      adhere design size calibrated.toml --power 0.9 --scenario 'effect 0.2, compliance 100%'
      adhere design run calibrated.toml --html report.html
      adhere design compare calibrated.toml fixed.toml
    """
    show_help(context)


@app.command(short_help="Print a design to begin with.")
def example() -> None:
    """Print an example of a design file, explained line by line.

    \b
      adhere design example > trial.toml
      adhere design run trial.toml
    """
    typer.echo(files("adhere.design").joinpath("example.toml").read_text(encoding="utf-8"), nl=False)


@app.command(short_help="Describe a design in words.")
def describe(file: DesignFile, imports: Imports = None) -> None:
    """Describe a design in words, warn about odd choices, and print its digest, which a trial's first record
    contains.

    A table [scenarios] in the file is checked, too.

    \b
      adhere design describe trial.toml
    """
    from adhere.design.words import in_words
    from adhere.evaluation.scenarios.scenarios import given_or_own, read_scenarios
    from adhere.report.numbers import counted
    from adhere.report.text_table import paragraph

    import_all(imports)
    found = read_design(file)
    scenarios = given_or_own(None, file)
    n_scenarios = 0 if scenarios is None else len(read_scenarios(scenarios, found))
    width = terminal_width()
    for sentence in in_words(found):
        typer.echo(paragraph(sentence, width))
    if n_scenarios:
        typer.echo(f"\nThe file also has {counted(n_scenarios, 'scenario')} to simulate it in.")
    typer.echo(f"\ndigest {found.digest}")


@dataclass(frozen=True)
class Reports:
    """Options for the files that report a simulated design."""

    html: Annotated[Path | None, output_option("Write a report, one HTML file, for a protocol.")] = None
    table: Annotated[Path | None, output_option("Write all characteristics: .csv or .parquet.")] = None


@app.command(short_help="Simulate a design, and report how it behaves.")
@with_groups
def run(*, file: DesignFile, simulated: Simulated, reports: Reports, machines: Machines) -> None:
    """Simulate trials of a design in several scenarios, and report how it behaves.

    The report covers type I error, power, conclusions, sample size, duration, the arms recommended and taken, and the
    bias and coverage of estimates.

    \b
      adhere design run trial.toml
      adhere design run trial.toml --html report.html --trials 100000
      adhere design run trial.toml --scenarios defiers --scenarios mine.toml
      adhere design run trial.toml --json - --device cuda

    Scenarios are populations, or a grid in three lines of TOML, in the design's own file or in another one:

    \b
      [scenarios]
      effect = [0.1, 0.2]            # of the treatment, if taken; by arm: {low = 0.1, high = 0.2}
      compliance = [1.0, 0.7]        # the share of patients who take what is recommended
      confounding = [0.0, 0.2]       # by how much the outcomes of the others differ

    Two nulls are added at each compliance: sharp (no effect on anyone) and average (effects that cancel out). Type I
    error is counted under both. Intervals express the error of the simulation: more trials narrow them.
    """
    _evaluate([file], simulated, reports, machines)


@app.command(short_help="Simulate several designs on the same patients.")
@with_groups
def compare(
    *,
    file: Annotated[list[Path], typer.Argument(metavar="FILE FILE…", help="Designs, as TOML or JSON.")],
    simulated: Simulated,
    reports: Reports,
    machines: Machines,
) -> None:
    """Simulate several designs on the same patients, and report how each differs from the first.

    \b
      adhere design compare adaptive.toml fixed.toml
      adhere design compare chosen.toml actual.toml --html side-by-side.html
      adhere design compare floor.toml no-floor.toml --scenarios grid.toml

    All designs must have the same arms. They meet the scenarios of the first file or of --scenarios. Differences are
    paired trial by trial, so that small ones show.
    """
    if len(file) < 2:
        raise InputError("FILE", [str(one) for one in file], "at least two designs; adhere design run takes one")
    _evaluate(file, simulated, reports, machines)


app.command(short_help="Find the threshold for a type I error.")(calibrate)
app.command(short_help="Find the number of patients for a power.")(size)


def _evaluate(paths: list[Path], simulated: Simulated, reports: Reports, machines: Machines) -> None:
    designs = simulated.read(paths, {"--html": reports.html, "--table": reports.table})
    _check_names({str(path): design.name for path, design in zip(paths, designs, strict=True)}, len(paths))
    from adhere.evaluation.evaluate import evaluate

    with machines.connected() as where:
        found = evaluate(designs, **simulated.arguments(paths[0]), **where)
    contents = simulated.print_results(found, terminal_width(100))
    if reports.html is not None:
        contents[reports.html] = found.to_html(_command(paths, simulated)).encode()
    if reports.table is not None:
        contents[reports.table] = table_file(found.to_polars(), reports.table)
    write_files(contents)


def _command(paths: list[Path], simulated: Simulated) -> str:
    """Return the command that repeats the results on any machine."""
    words = ["adhere", "design", "run" if len(paths) == 1 else "compare", *map(str, paths)]
    for option, values in (("--scenarios", simulated.scenarios or ()), ("--import", simulated.imports or ())):
        words += [word for value in values for word in (option, str(value))]
    return shlex.join([*words, "--trials", str(simulated.trials), "--seed", str(simulated.seed)])


def _check_names(names: dict[str, str], n_files: int) -> None:
    """Refuse designs with the same name, because names identify the results."""
    if len(names) < n_files:
        raise InputError("FILE", list(names), "each file once")
    by_name: dict[str, str] = {}
    for file, name in names.items():
        if (other := by_name.setdefault(name, file)) != file:
            sentence = f"FILE: {other} and {file} both have the name {name!r}; give each its own name (name = …)"
            raise InputError("FILE", name, "another name in each file", sentence)
