"""`adhere design`: how a trial would behave, before its first patient."""

from __future__ import annotations

import shutil
from importlib.resources import files

import typer

from adhere.cli.design import search as design_search
from adhere.cli.design import simulate as design_simulate
from adhere.cli.design.options import DesignFile, read_design
from adhere.cli.options import Imports, import_all

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def design(context: typer.Context) -> None:
    """How a trial would behave, before its first patient: error, power, size, duration, and who gets which arm.

    A design is a file. The trial that runs is the one that was simulated: 'adhere trial create' takes the same file.

    \b
      adhere design example > trial.toml            a file to begin with, explained line by line
      adhere design describe trial.toml             what it says, in words
      adhere design calibrate trial.toml --type-one 0.05 --out calibrated.toml
      adhere design size calibrated.toml --power 0.9 --scenario 'effect 0.2, compliance 100%'
      adhere design run calibrated.toml --html report.html
      adhere design compare calibrated.toml fixed.toml
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(short_help="Print a design to begin with.")
def example() -> None:
    """Print a file with a design, explained line by line, to begin with.

    \b
      adhere design example > trial.toml
      adhere design run trial.toml
    """
    typer.echo(files("adhere.design").joinpath("example.toml").read_text(encoding="utf-8"), nl=False)


@app.command(short_help="What a design says, in words.")
def describe(file: DesignFile, imports: Imports = None) -> None:
    """What a design says, in words; what looks odd in it; and its digest, which the first record of a trial has.
    A table [scenarios] beside it is checked, too.

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
    width = shutil.get_terminal_size().columns
    for sentence in in_words(found):
        typer.echo(paragraph(sentence, width))
    if n_scenarios:
        typer.echo(f"\nBeside it: {counted(n_scenarios, 'scenario')} to simulate it in.")
    typer.echo(f"\ndigest {found.digest}")


app.command(short_help="Simulate a design, and report how it behaves.")(design_simulate.run)
app.command(short_help="Simulate several designs on the same patients.")(design_simulate.compare)
app.command(short_help="Find the threshold that holds the type I error.")(design_search.calibrate)
app.command(short_help="Find the number of patients for a power.")(design_search.size)
