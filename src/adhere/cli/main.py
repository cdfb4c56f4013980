"""The command `adhere`: its subcommands, errors and Ctrl-C."""

import io
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from adhere.cli.options import BrokenLogError, EndedError, Stopped, show_help
from adhere.errors import InputError, StoreError, UnavailableError

# Typer exports only this one of its usage errors; their common base class is its parent.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_INVALID = re.compile(r"^Invalid value for '(.*?)': ")
_PASSWORD = re.compile(r"(\w:/+[^\s:/@]*):\S*@")  # in an address that may have been taken for the path of a file
_HIDDEN = r"\1:…@"
_TOKEN = re.compile(r"\badh_[\w-]{16,}")  # in a file that was given by mistake
BROKEN, WRONG_INPUT, INTERRUPTED = 1, 2, 130

COMMANDS: Final = {
    "reproduce": "Rebuild the paper's figures and numbers.",
    "design": "Simulate how a trial would behave.",
    "simulate": "Compare policies on populations.",
    "arena": "Compare every policy on a fixed grid of populations.",
    "analyse": "Analyse the records of a trial.",
    "coverage": "Count how often the intervals of analyses contain the truth.",
    "policies": "List the policies, or explain one.",
    "populations": "List the populations, or describe one.",
    "doctor": "Show what is installed here, and what is missing.",
    "demo": "Watch two trials with invented patients in a browser.",
    "serve": "Serve live trials over HTTP.",
    "data": "Show the data that come with adhere, and check them.",
    "token": "Manage who may use the service.",
    "trial": "Look at live trials, check them, export or move them.",
}


def app_of(name: str) -> typer.Typer:
    """Load a command's module. Return its `app` of several commands, or an app of the function with its name."""
    module = import_module(f"adhere.cli.{name}")
    found: typer.Typer | None = getattr(module, "app", None)
    if found is None:
        found = typer.Typer(add_completion=False, rich_markup_mode=None)
        found.command()(getattr(module, name))
    return found


class _CommandsOnDemand(TyperGroup):
    """A group of commands with one module each. Only the module of the command to run is loaded."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and typer.main.get_command(app_of(str(name))), rest


app = typer.Typer(
    cls=_CommandsOnDemand,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},  # inherited by all commands
)
for _name, _does in COMMANDS.items():
    app.command(_name, short_help=_does)(lambda: None)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"adhere {version('adhere')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def adhere(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Adaptive trials for people who do not always do as they are told.

    Start with: adhere simulate --population stroke-aspirin --policy thompson --policy thompson/actual
    """
    show_help(context)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character the terminal lacks must not cost the results
    try:
        status = app(arguments, prog_name="adhere", standalone_mode=False)
        if sys.stdout is not None:  # None if the calling process closed it
            sys.stdout.flush()
    except (InputError, StoreError, UnavailableError) as error:
        return _print_error(str(error))
    except BrokenLogError as error:
        _print_error(str(error))
        return BROKEN
    except EndedError as error:
        _print_error(str(error))
        return error.status
    except UsageError as error:
        return _print_error(_INVALID.sub(r"\1: ", error.format_message()))  # type: ignore[attr-defined]
    except BrokenPipeError:
        # The reader of our output has left. Discard what Python would still flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Stopped as stopped:
        _stop(str(stopped))
    if status == INTERRUPTED:  # the status Typer returns for Ctrl-C
        _stop("Stopped; nothing was written.")
    return status or 0  # commands return nothing; typer.Exit returns its status


def _print_error(sentence: str) -> int:
    hidden = _TOKEN.sub("adh_…", _PASSWORD.sub(_HIDDEN, sentence))
    print(f"error: {hidden}", file=sys.stderr)
    return WRONG_INPUT


def _stop(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    # A compilation runs in a thread that cannot be interrupted, and an ordinary exit would wait for it.
    os._exit(INTERRUPTED)
