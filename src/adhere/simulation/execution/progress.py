"""Progress bars on a terminal and in a notebook, and silence elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

_SECONDS_BETWEEN = 0.2
_BAR_WIDTH = 30


class Progress(Protocol):
    """Interface of an object that receives the progress of a simulation."""

    def announce(self, message: str) -> None:
        """Show a message."""

    def advance_to(self, n_patients: int) -> None:
        """Record how many simulated patients are done."""


class Silent:
    """Progress that shows nothing."""

    def announce(self, message: str) -> None:
        """Show nothing."""

    def advance_to(self, n_patients: int) -> None:
        """Show nothing."""


class Announcing(Silent):
    """Progress that prints messages to standard error, without a bar."""

    def announce(self, message: str) -> None:
        """Print the message."""
        print(message, file=sys.stderr, flush=True)


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    loaded: Any = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded is not None else None
    return getattr(shell, "kernel", None) is not None


class NotebookProgress:
    """Progress in a notebook: the messages so far, and below them a bar with rate and time left."""

    def __init__(self, total: int) -> None:
        from IPython.display import display

        self._total, self._done, self._said = total, 0, list[str]()
        self._started = self._shown = time.monotonic()
        # IPython's own type annotations omit the return value.
        show: Any = display
        self._place = show(self._content("simulating…"), raw=True, display_id=True)

    def announce(self, message: str) -> None:
        """Show a message permanently above the bar."""
        self._said.append(message)
        self._show(self._bar())

    def advance_to(self, n_patients: int) -> None:
        """Update the bar with the number of simulated patients."""
        if not self._done:
            self._started = time.monotonic()  # compiling is over
        self._done = n_patients
        if time.monotonic() - self._shown >= _SECONDS_BETWEEN:
            self._show(self._bar())

    def finish(self) -> None:
        """Replace the bar by a summary of what was simulated."""
        seconds = time.monotonic() - self._started
        self._show(f"simulated {self._done / 1e6:,.1f} M patients in {seconds:,.1f} s")

    def _bar(self) -> str:
        share, seconds = self._done / self._total, time.monotonic() - self._started
        bar = ("█" * round(_BAR_WIDTH * share)).ljust(_BAR_WIDTH, "░")
        if not self._done or not seconds:
            return f"simulating {bar} {share:4.0%}"
        rate = self._done / seconds
        left = (self._total - self._done) / rate
        return f"simulating {bar} {share:4.0%}  {rate / 1e6:,.1f} M patients/s  {left:,.0f} s left"

    def _show(self, last: str) -> None:
        self._shown = time.monotonic()
        self._place.update(self._content(last), raw=True)

    def _content(self, last: str) -> dict[str, str]:
        return {"text/plain": "\n".join([*self._said, last])}


@contextmanager
def progress_on(total: int, wanted: Progress | bool | None) -> Iterator[Progress]:
    """Yield the requested progress: by default a bar with rate and time left, on a terminal or in a notebook."""
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
