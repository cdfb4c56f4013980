"""`adhere arena`: compare every policy on a fixed grid of populations and horizons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import check_folder
from adhere.cli.options import (
    Device,
    Imports,
    Seed,
    Threads,
    duration,
    import_all,
    output_option,
    resumable,
    terminal_width,
)

if TYPE_CHECKING:
    from adhere.studies.arena.arena import Arena


def arena(
    policy: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Your own policy to enter, in quotes. Repeatable.")
    ] = None,
    imports: Imports = None,
    only_own: Annotated[
        bool, typer.Option("--only-own", help="Play only --policy and Thompson, not the other policies.")
    ] = False,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this family. Repeat for several.  [default: all]")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small grid, for a first look: one to two minutes on two cores.")
    ] = False,
    seed: Seed = 0,
    out: Annotated[Path, output_option("The folder for the tables and the page.", metavar="FOLDER")] = Path("arena"),
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Compare every policy on the same fixed families of populations, from 12 to 100,000 patients.

    A family is 200 populations of one kind, drawn once from a published seed. There are families with and without
    confounding, with weak or strong compliance, with defiers, and with two, three or five arms. The paper's examples
    and the stroke trials are single populations. Every policy meets the same patients. A run takes up to 20 minutes
    on two free cores, plus compilation:

    \b
      adhere arena --quick --out quick      a first look, in one to two minutes
      adhere arena                          everything, into the folder arena
      adhere arena --device cuda            on a GPU, in minutes

    \b
      adhere arena --import mine.py --policy 'mine(rate=0.2)' --only-own

    \b
      adhere arena --family confounded --family unconfounded

    The command writes a page, index.html, and its tables into the folder data, as CSV and Parquet. Ctrl-C loses
    little: finished plays are stored in the folder, and the same command continues after them. So does a command that
    enters another policy.
    """
    check_folder("--out", out)
    from adhere.studies.arena.arena import arena as run
    from adhere.studies.arena.play import FOLDER

    import_all(imports)
    kept = out / FOLDER
    with resumable(kept, f"Stopped. Finished plays are kept in {kept}; the same command goes on after them."):
        done = run(
            out,
            policy or (),
            families=family,
            only_own=only_own,
            quick=quick,
            seed=seed,
            device=device,
            n_threads=threads,
        )
    typer.echo(_summary(done))


def _summary(done: Arena) -> str:
    from adhere.report.text_table import paragraph
    from adhere.studies.arena.page import LEGEND, summary

    width = terminal_width()
    parts = [summary(done.tables["results"], done.own, width), paragraph(LEGEND, width)]
    left_out = done.tables["left_out"]
    if len(left_out):
        names = "; ".join(left_out["label"].unique(maintain_order=True))
        parts.append(paragraph(f"Left out of some cells (see left_out.csv for the reasons): {names}.", width))
    if done.n_kept:
        parts.append(f"Finished by an earlier run and not repeated: {done.n_kept:,} of {done.n_plays:,} plays.")
    compiling = f", and {duration(done.compile_seconds)} to compile" if done.compile_seconds >= 1 else ""
    where = f"page:   {done.page}\ntables: {done.page.parent / 'data'}"
    parts.append(f"{where}\ntook:   {duration(done.seconds)}{compiling}")
    return "\n\n".join(parts)
