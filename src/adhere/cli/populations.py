"""`adhere populations`: list the populations, or describe one."""

from __future__ import annotations

from typing import Annotated

import typer


def populations(
    population: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", help="Describe this one.", show_default=False)
    ] = None,
) -> None:
    """List the built-in populations, or describe one: its arms, who takes what, what each protocol learns.

    \b
      adhere populations
      adhere populations rich-and-poor
      adhere populations trial.csv
    """
    from adhere.populations import as_population, built_in_populations, describe

    if population is not None:
        typer.echo(describe(as_population(population)))
        return
    known = built_in_populations()
    width = max(len(name) for name in known)
    for name, description in known.items():
        typer.echo(f"{name:{width}s}  {description}")
    typer.echo("\nOr a file of your own: strata in .toml, counts or single patients in .csv or .csv.gz.")
