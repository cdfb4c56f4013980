"""Show the progress of several studies: a bar on a terminal, otherwise a line per study."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from adhere.simulation.execution.progress import Announcing

MAX_TITLE = 30  # characters, so that a bar and two times fit beside it in 80 columns
_LINES = 4  # about compiling, if there is no terminal


class StudiesProgress(Announcing):
    """A progress display that prints to standard error which study begins and what is compiled."""

    def begin(self, title: str) -> None:
        """Announce a study."""
        self.announce(f"==> {title}")

    def compiled(self, n_compiled: int, n_all: int) -> None:
        """Show how many policies are compiled, in one line per quarter."""
        if n_compiled == 0:
            self.announce(f"compiling {n_all} policies (once; then they are cached on disk)")
        elif n_compiled * _LINES // n_all > (n_compiled - 1) * _LINES // n_all:
            self.announce(f"compiled {n_compiled} of {n_all} policies")

    def finish(self, n_patients: int) -> None:
        """Record that a simulation of this many patients is finished."""


@contextmanager
def studies_progress(total_patients: int) -> Iterator[StudiesProgress]:
    """Provide a bar over the patients of all studies if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield StudiesProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    console = Console(stderr=True)
    columns = (
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(max_width=MAX_TITLE, no_wrap=True, overflow="ellipsis"),
        ),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=total_patients)

        class Bar(StudiesProgress):
            def __init__(self) -> None:
                self.done = 0

            def begin(self, title: str) -> None:
                bars.update(task, description=title)

            def compiled(self, n_compiled: int, n_all: int) -> None:
                if n_compiled == 0:
                    super().compiled(n_compiled, n_all)
                bars.update(task, description=f"compiling policies: {n_compiled} of {n_all}")

            def advance_to(self, n_patients: int) -> None:
                bars.update(task, completed=self.done + n_patients)

            def finish(self, n_patients: int) -> None:
                self.done += n_patients
                bars.update(task, completed=self.done)

            def announce(self, message: str) -> None:
                console.print(message, style="dim", highlight=False, markup=False)

        yield Bar()
