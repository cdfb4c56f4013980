"""`adhere trial create`: a trial of a design, in a file of trials or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.options import Imports, import_all, integer
from adhere.cli.trial.importing import shown, writing_into
from adhere.cli.trial.sources import SecretFileOption
from adhere.errors import FileInUseError


def create(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A design in .toml or .json.")],
    into: Annotated[str, typer.Option("--into", metavar="FILE|URL", help="A file of trials, or postgresql://…")],
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", parser=integer, help="Seed (rehearsals only).")
    ] = None,
    secret_file: SecretFileOption = None,
    imports: Imports = None,
) -> None:
    """Create the trial that a design describes, for 'adhere serve' to run. Prints the design's digest.

    \b
      adhere trial create headache.toml --into adhere.db

    It is the design that 'adhere design run' simulates. The same design again changes nothing; another one under the
    same name is refused. The trial draws a secret of its own, by which its arms are drawn. The commitment to it is
    printed: send it to somebody outside, or have it timestamped, before the first patient. A seed is for rehearsals
    only: whoever knows or guesses it can predict every arm. While a service runs on the file, create the trial
    through it: POST /trials takes the design in JSON.
    """
    from adhere.design.checks import check
    from adhere.design.design_file import load_design
    from adhere.trial.domain.events import created_event
    from adhere.trial.writing.creation import check_seed_of
    from adhere.trial.writing.processor import CommandProcessor

    import_all(imports)
    design = load_design(path)
    check_seed_of(design, seed, "--seed")
    try:
        with writing_into(into, secret_file) as store:
            with store.reading() as view:
                was_there = design.name in view.trials()
            CommandProcessor(store).create(design, seed=seed, by="adhere trial create")
            with store.reading() as view:
                commitment = created_event(view, view.trials()[design.name]).commitment
    except FileInUseError:
        raise FileInUseError(into, "POST /trials with the design in JSON, Client.create_trial_from(FILE)") from None
    done = f"is in {shown(into)} already; nothing changed" if was_there else f"created in {shown(into)}"
    typer.echo(f"{design.name}: {done}\ndesign {design.digest}")
    if commitment:
        typer.echo(f"commitment {commitment}")
    for warning in check(design):
        typer.echo(f"note: {warning}", err=True)
