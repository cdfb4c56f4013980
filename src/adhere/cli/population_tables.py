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


def load_populations(given: Sequence[str], columns: Mapping[str, Any]) -> tuple[list[Population], list[str]]:
    """The populations that were named, and of tables, what decided the order of arms and the control.

    The latter also says if lower outcomes are better. Who is left out of a table is said on standard error.
    """
    from adhere.populations import as_population, records_of
    from adhere.populations.records import LOWER_IS_BETTER

    found: list[Population] = []
    orders: list[str] = []
    n_tables = 0
    for one in given:
        records = records_of(one, **columns)
        found.append(as_population(one) if records is None else records.population())
        n_tables += records is not None
        if records is not None and (note := records.note()):
            typer.echo(note, err=True)
        if records is not None:
            direction = f"; {LOWER_IS_BETTER}" if records.lower_is_better else ""
            orders.append(f"{records.name}: {records.arm_order}{direction}")
    if not n_tables:
        check_for_table(columns)
    return found, orders
