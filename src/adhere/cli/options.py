"""Options that several commands share, their parsers, and how commands end."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.populations import Population


class BrokenLogError(Exception):
    """A log that was changed or cut off, in one sentence."""


class EndedError(Exception):
    """The end of a command that ran for a while, in one sentence, with an exit status of its own."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Stopped(Exception):  # noqa: N818 (it is no error)
    """Ctrl-C, and what is to be said of it."""


STANDARD_OUTPUT = "-"  # in place of a file
_RENAMED = {"executor": "cluster"}  # arguments whose option has another name than theirs
_OPTIONS = re.compile(
    "patients|runs|seed|threads|processes|replications|reference|cluster|device|out|study|family|trial|control|"
    "fixed-allocation|level|margin|redraws|trials|type-one|number|between|power|scenario"
)


def integer(text: str) -> int:
    """The `parser` of options that take an integer; Typer's own error would leave out the value.

    >>> integer("10_000")
    10000
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"got {text!r}, expected a whole number") from None


def number(text: str) -> float:
    """The `parser` of options that take a number.

    >>> number("0.95")
    0.95
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"got {text!r}, expected a number") from None


Imports = Annotated[
    list[Path] | None,
    typer.Option(
        "--import", metavar="FILE.py", help="A file that declares policies of your own. Repeat for several."
    ),
]
Seed = Annotated[int, typer.Option(metavar="K", parser=integer, help="The same seed gives the same numbers.")]
Threads = Annotated[
    int | None, typer.Option(metavar="N", parser=integer, help="Threads to use.  [default: one for each core]")
]


JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the results as JSON; - for standard output.")
]


ArmsInOrder = Annotated[
    str | None,
    typer.Option(
        "--arms",
        metavar="A,B,…",
        help="All arms of a table, in order, a name with a comma in quotation marks: 'none,\"gum, mint\"'.  "
        "[default: of a categorical column, of columns of probabilities, or by name]",
    ),
]
Control = Annotated[
    str | None,
    typer.Option(
        "--control",
        metavar="ARM",
        help="The control of a table, which comes first.  [default: placebo or the like, otherwise the first arm]",
    ),
]
LowerIsBetter = Annotated[
    bool,
    typer.Option(
        "--lower-is-better",
        help="A lower outcome of a table is better, as where 1 is a death: read an outcome y as 1 - y.  [default: as "
        "an exported table says]",
    ),
]
Chosen = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column with the arm assigned.  [default: chosen, TRTP, ARM or TRT01P]"),
]
Actual = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column with the arm taken.  [default: actual, TRTA, ACTARM or TRT01A]"),
]
Reward = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column with the outcome.  [default: reward or AVAL]")
]
CountColumn = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", help="The column with a count of patients.  [default: count or n]"),
]


def json_text(result: object) -> str:
    """Results as JSON."""
    return json.dumps(result, indent=2, allow_nan=False) + "\n"


def import_all(files: list[Path] | None) -> None:
    """Run the files that declare a user's policies."""
    from adhere.policies import import_policies

    for file in files or ():
        import_policies(file)


@contextmanager
def naming_options() -> Iterator[None]:
    """Name the option, not the argument that it was passed on as, in errors about its value."""
    try:
        yield
    except InputError as error:
        name = _RENAMED.get(error.field, error.field.removeprefix("n_").replace("_", "-"))
        if _OPTIONS.fullmatch(name) is None:
            raise
        sentence = re.sub(rf"^{error.field}\b", f"--{name}", str(error))
        raise InputError(f"--{name}", error.value, error.expected, sentence) from None


_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d{1,6})([smhdw])")


def span(option: str, text: str) -> timedelta:
    """A span of time.

    >>> span("--overlap", "36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InputError(option, text, "a time such as 30m, 12h, 90d or 4w")
    return timedelta(**{_UNITS[found.group(2)]: int(found.group(1))})


def moment(option: str, text: str) -> datetime:
    """A span from now on, the beginning of a day (UTC), or a time; without a zone it is UTC.

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
    """A time as one would say it.

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
    """Refuse the address of a PostgreSQL where a file is needed."""
    if str(file).startswith(("postgresql:/", "postgres:/")):
        raise InputError(option, "postgresql://…", "a file", f"{option} takes a file, not PostgreSQL: {instead}")


def database(file: Path | None, url: str | None) -> str | Path:
    """The store that was asked for."""
    if file is not None:
        refuse_address("--data", file, "give its address with --database-url")
    if url is None:
        return file or DEFAULT_FILE
    if file is not None:
        raise InputError("--data", str(file), "either --data or --database-url")
    if not url.startswith(("postgresql://", "postgres://")):
        raise InputError("--database-url", url.partition("@")[2] or url, "an address that begins with postgresql://")
    return url


Device = Annotated[str, typer.Option(metavar="NAME", help="Run on the cpu, or on a GPU with cuda.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on the workers of a Dask scheduler instead of on this machine."),
]


def check_machines(threads: int | None, device: str, cluster: str | None) -> None:
    """Refuse threads or a GPU of this machine beside a cluster."""
    if cluster is not None and device != "cpu":
        raise InputError("--device", device, "cpu together with --cluster")
    if cluster is not None and threads is not None:
        raise InputError("--threads", threads, "no number together with --cluster, whose workers have their own")


@contextmanager
def machines(threads: int | None, device: str, cluster: str | None) -> Iterator[dict[str, Any]]:
    """Where trials are simulated, and who hears how far they are: arguments of `simulate`, `evaluate` and others."""
    from adhere.simulation.execution.cluster import connected
    from adhere.simulation.execution.progress import Announcing

    check_machines(threads, device, cluster)
    progress = None if sys.stderr.isatty() else Announcing()
    with naming_options(), nullcontext() if cluster is None else connected(cluster) as executor:
        yield {"n_threads": threads, "device": device, "executor": executor, "progress": progress}


def check_for_table(options: Mapping[str, object]) -> None:
    """Refuse options that only make sense for a table."""
    for option, value in options.items():
        if value:
            option = option.replace("_", "-")
            expected = "a table to go with it (.csv, .csv.gz, .tsv or .parquet)"
            raise InputError(f"--{option}", value, expected, f"--{option} needs {expected}")


def load_populations(given: Sequence[str], columns: Mapping[str, Any]) -> list[Population]:
    """The populations that were named. Who is left out of a table is said on standard error."""
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
