"""`adhere populations`: list the populations, or describe one."""

import json
from typing import Annotated, Any

import typer

from adhere.cli.options import TableColumns, check_for_table, terminal_width, with_groups


@with_groups
def populations(
    *,
    population: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", help="Describe this one.", show_default=False)
    ] = None,
    columns: TableColumns,
    as_json: Annotated[bool, typer.Option("--json", help="Print counts, estimates and intervals as JSON.")] = False,
) -> None:
    """List the built-in populations, or describe one: its arms, who takes which arm, and what each protocol learns.

    \b
      adhere populations
      adhere populations rich-and-poor
      adhere populations trial.csv
      adhere populations trial.csv --chosen assigned --actual taken --reward outcome

    For a table (.csv, .csv.gz, .tsv or .parquet, including one from 'adhere trial export') it shows the number of
    patients and every estimate with its 95% interval. It also counts the rows without the arm assigned, the arm taken
    or the outcome. Such rows are left out of the population: a missing outcome is never counted as a zero.
    """
    if population is None:
        check_for_table({**columns.given(), "json": as_json})
        _list()
    else:
        _describe(population, columns.given(), as_json)


def _list() -> None:
    from adhere.populations import built_in_populations

    known = built_in_populations()
    width = max(len(name) for name in known)
    for name, description in known.items():
        typer.echo(f"{name:{width}s}  {description}")
    typer.echo(
        "\nOr a file of your own: compliance types in .toml, counts or single patients in .csv, .tsv or .parquet."
    )


def _describe(given: str, columns: dict[str, Any], as_json: bool) -> None:
    from adhere.populations import Counts, Records, as_population, describe, records_json, records_of

    records = records_of(given, **columns)
    if records is None:
        check_for_table(columns)
        population = as_population(given)
        records = Records.of(population) if isinstance(population, Counts) else None
    if as_json and records is None:
        check_for_table({"json": as_json})
    text = describe(given, terminal_width(), **columns)
    typer.echo(json.dumps(records_json(records), indent=2, ensure_ascii=False) if as_json and records else text)
