"""Options that several commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from adhere.errors import InputError

STANDARD_OUTPUT = "-"  # in place of a file
_RENAMED = {
    "n_patients": "patients",
    "n_runs": "runs",
    "n_trials": "trials",
    "type_one": "type-one",
    "n_threads": "threads",
    "n_processes": "processes",
    "executor": "cluster",
    "fixed_allocation": "fixed-allocation",
}
_OPTIONS = (
    "patients",
    "runs",
    "seed",
    "threads",
    "processes",
    "replications",
    "reference",
    "cluster",
    "device",
    "out",
    "study",
    "family",
    "trial",
    "control",
    "fixed-allocation",
    "level",
    "margin",
    "redraws",
    "trials",
    "type-one",
    "number",
    "between",
    "power",
    "scenario",
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
        name = _RENAMED.get(error.field, error.field)
        if name not in _OPTIONS:
            raise
        sentence = re.sub(rf"^{error.field}\b", f"--{name}", str(error))
        raise InputError(f"--{name}", error.value, error.expected, sentence) from None
