"""`adhere trial create`: a trial of a design, in a file of trials or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.options import Imports, import_all, integer
from adhere.cli.trial_moving import shown, writing_into
from adhere.errors import FileInUseError, InputError


def create(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A design in .toml or .json.")],
    into: Annotated[str, typer.Option("--into", metavar="FILE|URL", help="A file of trials, or postgresql://…")],
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", parser=integer, help="Seed; left out, one that nobody can guess."),
    ] = None,
    imports: Imports = None,
) -> None:
    """Create the trial that a design describes, for 'adhere serve' to run. Prints the design's digest.

    \b
      adhere trial create headache.toml --into adhere.db

    It is the design that 'adhere design run' simulates. The same design again changes nothing; another one under the
    same name is refused. Who knows the seed can tell the next arms: give none to a real trial. A blinded trial takes
    none. While a service runs on the file, create the trial through it: POST /trials takes the design in JSON.
    """
    from adhere.trial.design_checks import check
    from adhere.trial.design_file import load_design
    from adhere.trial.processor import CommandProcessor

    import_all(imports)
    design = load_design(path)
    if design.blinded and seed is not None:
        raise InputError("--seed", seed, "none: a blinded trial draws its own seed")
    try:
        with writing_into(into) as store:
            with store.reading() as view:
                was_there = design.name in view.trials()
            CommandProcessor(store).create(design, seed=seed, by="adhere trial create")
    except FileInUseError:
        raise FileInUseError(into, "POST /trials with the design in JSON, Client.create_trial_from(FILE)") from None
    done = f"is in {shown(into)} already; nothing changed" if was_there else f"created in {shown(into)}"
    typer.echo(f"{design.name}: {done}\ndesign {design.digest}")
    for warning in check(design):
        typer.echo(f"note: {warning}", err=True)
