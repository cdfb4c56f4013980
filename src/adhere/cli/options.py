"""Options that several commands share, their parsers, and how commands end."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.populations import Population


class BrokenLogError(Exception):
    """A log that was changed or cut off, described in one sentence."""


class EndedError(Exception):
    """The end of a long-running command, described in one sentence, with its own exit status."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Stopped(Exception):  # noqa: N818 (it is no error)
    """A stop by Ctrl-C, with the message to print."""


STANDARD_OUTPUT = "-"  # in place of a file
_RENAMED = {"executor": "cluster"}  # arguments with another name than their option
_OPTIONS = re.compile(
    "patients|runs|seed|threads|processes|replications|reference|cluster|device|out|study|family|trial|control|"
    "fixed-allocation|level|margin|redraws|trials|type-one|number|between|power|scenario"
)


def _parser(kind: Callable[[str], Any], expected: str) -> Callable[[str], Any]:
    """Return a `parser` of options. Typer's own errors would not show the value."""

    def parsed(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise typer.BadParameter(f"got {text!r}, expected {expected}") from None

    return parsed


integer, number = _parser(int, "a whole number"), _parser(float, "a number")


def integer_option(help_text: str, metavar: str = "N") -> Any:
    """Return an option that takes an integer."""
    return typer.Option(metavar=metavar, parser=integer, help=help_text)


def number_option(help_text: str, *names: str, metavar: str = "P") -> Any:
    """Return an option that takes a number."""
    return typer.Option(*names, metavar=metavar, parser=number, help=help_text)


def column_option(help_text: str, *names: str) -> Any:
    """Return an option that takes the name of a table's column."""
    return typer.Option(*names, metavar="COLUMN", help=help_text)


def output_option(help_text: str, *names: str, metavar: str = "FILE") -> Any:
    """Return an option that takes a file or folder to write, which need not be readable."""
    return typer.Option(*names, metavar=metavar, readable=False, help=help_text)


Imports = Annotated[
    list[Path] | None,
    typer.Option(
        "--import", metavar="FILE.py", help="A file that declares policies of your own. Repeat for several."
    ),
]
Seed = Annotated[int, integer_option("The same seed gives the same numbers.", "K")]
Threads = Annotated[int | None, integer_option("Threads to use.  [default: one per core]")]
Device = Annotated[str, typer.Option(metavar="NAME", help="The processor: cpu, or cuda for a GPU.")]
JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the results as JSON (-: to standard output).")
]
ArmsInOrder = Annotated[
    str | None,
    typer.Option(
        "--arms",
        metavar="A,B,…",
        help="All arms of a table, in order. Quote a name with a comma: 'none,\"gum, mint\"'.  "
        "[default: the order of a categorical column, of columns of probabilities, or of names]",
    ),
]
LowerIsBetter = Annotated[
    bool,
    typer.Option(
        "--lower-is-better",
        help="A lower outcome of a table is better, for example if 1 is a death: read an outcome y as 1 - y.  "
        "[default: as in an exported table]",
    ),
]
Chosen = Annotated[
    str | None, column_option("The column with the arm assigned.  [default: chosen, TRTP, ARM or TRT01P]")
]
Actual = Annotated[
    str | None, column_option("The column with the arm taken.  [default: actual, TRTA, ACTARM or TRT01A]")
]
Reward = Annotated[str | None, column_option("The column with the outcome.  [default: reward or AVAL]")]
CountColumn = Annotated[
    str | None, column_option("The column with a count of patients.  [default: count or n]", "--count")
]


@dataclass(frozen=True)
class Machines:
    """Options for where trials are simulated: on threads or a GPU of this machine, or on a cluster."""

    threads: Threads = None
    device: Device = "cpu"
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the workers of a Dask scheduler instead of on this machine."),
    ] = None

    def check(self) -> None:
        """Refuse threads or a GPU of this machine together with a cluster."""
        if self.cluster is not None and self.device != "cpu":
            raise InputError("--device", self.device, "cpu together with --cluster")
        if self.cluster is not None and self.threads is not None:
            expected = "no number together with --cluster, whose workers have their own"
            raise InputError("--threads", self.threads, expected)

    @contextmanager
    def connected(self) -> Iterator[dict[str, Any]]:
        """Yield the arguments of `simulate`, `evaluate` and similar functions for where to run and report
        progress.
        """
        from adhere.simulation.execution.cluster import connected
        from adhere.simulation.execution.progress import Announcing

        self.check()
        progress = None if sys.stderr.isatty() else Announcing()
        with naming_options(), nullcontext() if self.cluster is None else connected(self.cluster) as executor:
            yield {"n_threads": self.threads, "device": self.device, "executor": executor, "progress": progress}


@dataclass(frozen=True)
class TableColumns:
    """Options for reading a table of patients."""

    chosen: Chosen = None
    actual: Actual = None
    reward: Reward = None
    count: CountColumn = None
    arms: ArmsInOrder = None
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            metavar="ARM",
            help="The control arm of a table.  [default: placebo or the like, otherwise the first arm]",
        ),
    ] = None
    lower_is_better: LowerIsBetter = False

    def given(self) -> dict[str, Any]:
        """Return the options as arguments of `records_of`. None means that an option was not given."""
        return asdict(self) | {"lower_is_better": self.lower_is_better or None}


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups of options. A parameter that is a dataclass is replaced by its fields for Typer."""
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if not is_dataclass(parameter.annotation):
            parameters.append(parameter)
            continue
        groups[name] = parameter.annotation
        hints = get_type_hints(parameter.annotation, include_extras=True)
        parameters += [
            inspect.Parameter(one.name, parameter.kind, default=one.default, annotation=hints[one.name])
            for one in fields(parameter.annotation)
        ]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def terminal_width(otherwise: int = 80) -> int:
    """Return the number of characters in a line of the terminal, or the default if there is no terminal."""
    return shutil.get_terminal_size((otherwise, 24)).columns


def show_help(context: typer.Context) -> None:
    """Print the help of a group of commands if no command was given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def json_text(result: object) -> str:
    """Return results as JSON."""
    return json.dumps(result, indent=2, allow_nan=False) + "\n"


def import_all(files: list[Path] | None) -> None:
    """Run the files that declare a user's policies."""
    from adhere.policies import import_policies

    for file in files or ():
        import_policies(file)


@contextmanager
def naming_options() -> Iterator[None]:
    """Replace the argument's name by the option's in errors about its value."""
    try:
        yield
    except InputError as error:
        name = _RENAMED.get(error.field, error.field.removeprefix("n_").replace("_", "-"))
        if _OPTIONS.fullmatch(name) is None:
            raise
        sentence = re.sub(rf"^{error.field}\b", f"--{name}", str(error))
        raise InputError(f"--{name}", error.value, error.expected, sentence) from None


@contextmanager
def resumable(kept: Path, sentence: str) -> Iterator[None]:
    """Name options in errors. At Ctrl-C, report the files kept in a folder, if there are any."""
    try:
        with naming_options():
            yield
    except KeyboardInterrupt:
        if not kept.exists():
            raise
        raise Stopped(sentence) from None


_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d{1,6})([smhdw])")


def span(option: str, text: str) -> timedelta:
    """Parse a span of time.

    >>> span("--overlap", "36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InputError(option, text, "a time such as 30m, 12h, 90d or 4w")
    return timedelta(**{_UNITS[found.group(2)]: int(found.group(1))})


def moment(option: str, text: str) -> datetime:
    """Parse a span from now on, a date (its beginning in UTC), or a time (in UTC unless it has a zone).

    >>> moment("--expires", "2027-01-31").isoformat()
    '2027-01-31T00:00:00+00:00'
    """
    if _SPAN.fullmatch(text.strip()):
        return datetime.now(UTC) + span(option, text)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(option, text, "a span such as 90d, or a date such as 2027-01-31") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def duration(seconds: float) -> str:
    """Return a duration in readable form.

    >>> duration(4.26), duration(192.3)
    ('4.3 s', '3 min 12 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{round(seconds) // 60} min {round(seconds) % 60} s"


DEFAULT_FILE = Path("adhere.db")

ExistingFile = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="The SQLite file of the trials. [adhere.db]")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        envvar="ADHERE_DATABASE_URL",
        show_envvar=True,
        help="PostgreSQL instead of a file: postgresql://user:password@host/database.",
    ),
]


def refuse_address(option: str, file: Path | str, instead: str) -> None:
    """Refuse the address of a PostgreSQL database where a file is needed."""
    if str(file).startswith(("postgresql:/", "postgres:/")):
        raise InputError(option, "postgresql://…", "a file", f"{option} takes a file, not PostgreSQL: {instead}")


def database(file: Path | None, url: str | None) -> str | Path:
    """Return the file or address of the store that the options name."""
    if file is not None:
        refuse_address("--data", file, "give its address with --database-url")
    if url is None:
        return file or DEFAULT_FILE
    if file is not None:
        raise InputError("--data", str(file), "either --data or --database-url")
    if not url.startswith(("postgresql://", "postgres://")):
        raise InputError("--database-url", url.partition("@")[2] or url, "an address that begins with postgresql://")
    return url


@contextmanager
def counting(describe: Callable[[int], str]) -> Iterator[Callable[[int], None]]:
    """Show on a terminal, if there is one, how far a command is. Call the result with the number of new items."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(describe(0), total=None)

        def advance(n: int) -> None:
            shown.advance(task, n)
            shown.update(task, description=describe(round(shown.tasks[0].completed)))

        yield advance


def check_for_table(options: Mapping[str, object]) -> None:
    """Refuse options that only make sense for a table."""
    for option, value in options.items():
        if value:
            option = option.replace("_", "-")
            expected = "a table to go with it (.csv, .csv.gz, .tsv or .parquet)"
            raise InputError(f"--{option}", value, expected, f"--{option} needs {expected}")


def load_populations(given: Sequence[str], columns: Mapping[str, Any]) -> list[Population]:
    """Load populations by name or file. Print on standard error which rows of a table are left out."""
    from adhere.populations import as_population, records_of

    found: list[Population] = []
    n_tables = 0
    for one in given:
        try:
            records = records_of(one, **columns)
        except InputError as error:
            raise error.within(one) if error.field in ("arms", "control") and len(given) > 1 else error from None
        found.append(as_population(one) if records is None else records.population())
        n_tables += records is not None
        if records is not None and (note := records.note()):
            typer.echo(note, err=True)
    if not n_tables:
        check_for_table(columns)
    return found
