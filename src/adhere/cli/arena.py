"""`adhere arena`: every policy on a fixed grid of populations and horizons."""

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
        list[str] | None, typer.Option(metavar="TEXT", help="A policy of your own to enter, in quotes. Repeatable.")
    ] = None,
    imports: Imports = None,
    only_own: Annotated[
        bool, typer.Option("--only-own", help="Play --policy and Thompson alone, not all the others.")
    ] = False,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this family. Repeat for several.  [default: all]")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small grid, for a first look: one to two minutes on two cores.")
    ] = False,
    seed: Seed = 0,
    out: Annotated[Path, output_option("Where tables and page go.", metavar="FOLDER")] = Path("arena"),
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Compare every policy on the same fixed families of populations, from 12 to 100,000 patients.

    A family is 200 populations of one kind, drawn once from a published seed: confounded or not, with weak
    or strong compliance, with defiers, with two, three or five arms; the paper's examples and the stroke trials play
    once. Every policy meets the same patients. Up to 20 minutes on two free cores, the compiling aside:

    \b
      adhere arena --quick --out quick      a first look, in one to two minutes
      adhere arena                          everything, into the folder arena
      adhere arena --device cuda            on a GPU, in minutes
    \b
      adhere arena --import mine.py --policy 'mine(rate=0.2)' --only-own
    \b
      adhere arena --family confounded --family unconfounded

    Leaves a page, index.html, and its tables in the folder data, as CSV and Parquet. Ctrl-C loses little: what was
    played is kept in the folder, and the same command goes on after it. So does one that enters another policy.
    """
    check_folder("--out", out)
    from adhere.studies.arena.arena import arena as run
    from adhere.studies.arena.play import FOLDER

    import_all(imports)
    kept = out / FOLDER
    with resumable(kept, f"Stopped. What was played is kept in {kept}; the same command goes on."):
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
        parts.append(paragraph(f"Left out where they cannot play (why: left_out.csv): {names}.", width))
    if done.n_kept:
        parts.append(f"Played by an earlier run, not again: {done.n_kept:,} of {done.n_plays:,} plays.")
    compiling = f", and {duration(done.compile_seconds)} to compile" if done.compile_seconds >= 1 else ""
    where = f"page:   {done.page}\ntables: {done.page.parent / 'data'}"
    parts.append(f"{where}\ntook:   {duration(done.seconds)}{compiling}")
    return "\n\n".join(parts)
