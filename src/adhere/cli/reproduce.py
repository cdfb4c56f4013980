"""`adhere reproduce`: rebuild the paper's figures and numbers, and write the report."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import check_folder
from adhere.cli.options import Seed, Threads, duration, output_option, resumable, terminal_width
from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.studies.framework.reproduce import Reproduction


def reproduce(
    study: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this study. Repeat for several.  [default: all]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the runs.")] = False,
    seed: Seed = 0,
    out: Annotated[
        Path, output_option("The folder for the report; an earlier report there is replaced.", metavar="FOLDER")
    ] = Path("report"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything again, even what an earlier run finished.")
    ] = False,
    threads: Threads = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every claim, with the paper's figure and this run's.")
    ] = False,
) -> None:
    """Rebuild the figures and numbers of the paper, and show where we agree with it.

    The command writes a report for any browser, index.html, with its figures and data beside it, and prints one line
    per study. At full size this takes about four minutes on two free cores. The first run, of any size, spends part
    of its time compiling:

    \b
      adhere reproduce --quick --out quick     a tenth of the size
      adhere reproduce                         everything, into the folder report
      adhere reproduce --study small-trials    one of these studies:

    \b
      stroke-trial, synthetic, small-trials, propositions, regret-growth,
      stroke-data, past-the-paper

    Ctrl-C loses little: finished studies are kept in the folder, and the same command goes on after them. So does any
    command with the same seed and size, for example for another study: the report covers all finished studies in the
    folder. A run with another seed, size or version starts again and replaces the report.
    """
    check_folder("--out", out)
    if not all(find_spec(name) for name in ("matplotlib", "jinja2")):
        extra = "pip install 'adhere[report]' (in a checkout: '.[report]')"
        raise InputError("--out", str(out), f"matplotlib and jinja2 to write the report: {extra}")
    from adhere.studies.catalogue import STUDIES
    from adhere.studies.catalogue import study as study_of
    from adhere.studies.framework.report_writer import UNFINISHED
    from adhere.studies.framework.reproduce import reproduce as run

    kept, same = out / UNFINISHED, "the same command without --fresh" if fresh else "the same command"
    with resumable(kept, f"Stopped. Finished studies are kept in {kept}; {same} goes on after them."):
        done = run(
            out,
            [study_of(name) for name in dict.fromkeys(study or STUDIES)],
            catalogue=STUDIES.values(),
            seed=seed,
            quick=quick,
            fresh=fresh,
            n_threads=threads,
        )
    typer.echo(_summary(done, verbose))


def _summary(done: Reproduction, verbose: bool) -> str:
    """Return the verdicts, the studies that were not run again, the path of the report, and the duration."""
    from adhere.report.text_table import claims_table, paragraph, study_lines

    width = terminal_width()
    parts = [(claims_table if verbose else study_lines)(done.sections, width)]
    if done.resumed:
        names = ", ".join(done.resumed)
        sentence = f"Finished by an earlier run and not run again: {names}. To run them again, add --fresh."
        parts.append(paragraph(sentence, width))
    parts.append(f"report: {done.page}\ntook:   {duration(done.seconds)}")
    return "\n\n".join(parts)
