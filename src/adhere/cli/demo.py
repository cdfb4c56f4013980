"""`adhere demo`: watch two trials with invented patients in a browser, with one command."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from adhere.checks import check_count, check_integer
from adhere.cli.options import integer_option, number_option
from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.demo.demo import Demo
    from adhere.demo.player import Player

_WHERE_TO_BEGIN = """\
What to look at first:

  1. As Ines, open rich-and-poor, then Monitor: the policy favours a harmful treatment.
  2. On the same page, look at the intention-to-treat effect: it points the other way.
  3. As Ines, open Explore in the menu: see which patients mislead the policy, and why.
  4. As Ruth, on a phone if you like, enter a patient and report what came of it.
  5. As Ada, open New trial: write a design and simulate it before the first patient."""
_NEEDED = ("uvicorn", "adhere_client", "scipy")  # modules of the extras service and analysis


def demo(
    speed: Annotated[float, number_option("Patients per second in each trial.", metavar="N")] = 2.0,
    patients: Annotated[int | None, integer_option("End after this number of patients in each trial.")] = None,
    port: Annotated[int, integer_option("The port. 0 chooses a free one.")] = 0,
    # The README describes the results with this seed.
    seed: Annotated[int, integer_option("The same seed gives the same patients.", "K")] = 8,
    browser: Annotated[bool, typer.Option(help="Open a browser if there is a display.")] = True,
) -> None:
    """Watch two trials with invented patients. There is nothing to set up, and nothing is left behind.

    The command starts the service on a temporary file, prints a sign-in link for each of four people, and creates two
    trials. It plays their patients through the HTTP API: reports come late, twice, never, or wrong and corrected, and
    some patients are entered in error. The first 500 patients of each trial come at once, the others at the rate of
    --speed.

    \b
      stroke          aspirin or not: little effect, and most patients comply
      rich-and-poor   a harmful treatment: the policy is misled by the arms that patients took

    Enter prints fresh links. Ctrl-C stops the service and deletes the file.
    """
    if not 0.01 <= speed <= 1000:
        raise InputError("--speed", speed, "a number from 0.01 to 1,000")
    if patients is not None:
        check_count("--patients", patients, at_least=1)
    check_integer("--port", port, 0, 65535)
    check_integer("--seed", seed, 0, 2**64 - 1)
    _check_installed()
    from rich.console import Console

    from adhere.demo.demo import running_demo
    from adhere.demo.player import Pace, play

    try:
        with _ended_by_signals(), running_demo(port) as running:
            _introduce(running, browser)
            asked = _asked_for_links()
            with Console().status("creating the trials; the first time, their policies are compiled") as status:
                players = running.create_trials(seed)
                for _ in play(players, Pace(speed=speed, patients=patients)):
                    status.update(" · ".join(_progress(player) for player in players))
                    if asked.is_set():
                        asked.clear()
                        _print_links(running)
            if patients is None:
                typer.echo("All patients have been played; the pages stay until Ctrl-C.")
                while asked.wait():
                    asked.clear()
                    _print_links(running)
    except KeyboardInterrupt:
        typer.echo("")
    typer.echo("The demo has ended; its service, its trials and its file are gone.")


def _check_installed() -> None:
    if not all(find_spec(name) for name in _NEEDED):
        sentence = (
            "`adhere demo` needs the service and the analysis: pip install ./packages/adhere-client "
            "'.[service,analysis]' in a checkout, or simply make demo"
        )
        raise InputError("demo", None, "the extras service and analysis", sentence)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End at SIGTERM and SIGHUP as at Ctrl-C. Further signals during the end are ignored."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(*_: object) -> NoReturn:
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {one: signal.signal(one, stop) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _introduce(running: Demo, browser: bool) -> None:
    from adhere.demo.demo import STATISTICIAN

    typer.echo(f"\nTwo trials with invented patients, at {running.url}/app\n")
    _print_links(running)
    typer.echo(f"\n{_WHERE_TO_BEGIN}")
    typer.echo("\nEnter prints fresh links; Ctrl-C stops it all and deletes the file.\n")
    if browser and _has_display():
        webbrowser.open(running.link(STATISTICIAN))


def _print_links(running: Demo) -> None:
    from adhere.demo.demo import PEOPLE

    typer.echo("Sign in as one of these people; each link works once:\n")
    for person in PEOPLE:
        typer.echo(f"  {person.name}, {person.title} ({person.sees})\n    {running.link(person)}")


def _asked_for_links() -> threading.Event:
    """Return an event that is set whenever somebody presses Enter."""
    asked = threading.Event()

    def listen() -> None:
        while True:
            try:
                typed = os.read(0, 1024)  # not sys.stdin, whose lock Python would wait for at exit
            except OSError:  # in the background of a terminal, until it is in the foreground again
                time.sleep(1.0)
                continue
            if not typed:  # end of the input
                return
            asked.set()

    signal.signal(signal.SIGTTIN, signal.SIG_IGN)  # otherwise it would stop a demo in the background
    threading.Thread(target=listen, daemon=True).start()
    return asked


def _has_display() -> bool:
    """Return whether there is a graphical display. Otherwise webbrowser would start a browser in the terminal."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _progress(player: Player) -> str:
    played = player.played
    return f"{player.trial.name}: {played['recommend']:,} patients, {played['report']:,} reports"
