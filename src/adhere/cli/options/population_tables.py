"""Populations that commands read from tables, with columns by the names a user gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.populations import Population


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
