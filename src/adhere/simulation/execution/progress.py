"""A progress bar on a terminal and in a notebook, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from adhere.simulation.execution.notebook_progress import NotebookProgress, in_notebook


class Progress(Protocol):
    """Hears how far a simulation is."""

    def announce(self, message: str) -> None:
        """Say something in passing."""

    def advance_to(self, n_patients: int) -> None:
        """So many simulated patients are done."""


class Silent:
    """Says nothing."""

    def announce(self, message: str) -> None:
        """Say nothing."""

    def advance_to(self, n_patients: int) -> None:
        """Say nothing."""


class Announcing(Silent):
    """Says on standard error what is worth saying, without a bar."""

    def announce(self, message: str) -> None:
        """Say it."""
        print(message, file=sys.stderr, flush=True)


@contextmanager
def progress_on(total: int, wanted: Progress | bool | None) -> Iterator[Progress]:
    """What was asked for; left open, a bar with rate and time left on a terminal or in a notebook."""
    if wanted is None:
        wanted = in_notebook() or sys.stderr.isatty()
    if wanted is not True:
        yield Silent() if wanted is False else wanted
        return
    if in_notebook():
        shown = NotebookProgress(total)
        yield shown
        shown.finish()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=total, rate="")

        class Bar:
            def announce(self, message: str) -> None:
                console.print(message, style="dim", highlight=False, markup=False)

            def advance_to(self, n_patients: int) -> None:
                speed = bars.tasks[0].speed or 0.0
                bars.update(task, completed=n_patients, rate=f"{speed / 1e6:.1f} M patients/s")

        yield Bar()
