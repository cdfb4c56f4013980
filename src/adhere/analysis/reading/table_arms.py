"""Arms of a table in order, and the probabilities with which they were assigned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import numpy as np
import polars as pl

from adhere.analysis.records import (
    PROBABILITIES_NEEDED,
    TOOK_NOTHING,
    TOOK_OTHER,
    Bools,
    Floats,
    Ints,
    missing_probabilities,
)
from adhere.errors import InputError, listed
from adhere.records.arms import ArmOrder, arm_names, ordered_arms, read_labels
from adhere.records.cells import Cells
from adhere.records.column_roles import probability_columns
from adhere.records.table import Table

IN_WORDS: Final = {"took nothing": TOOK_NOTHING, "took something else": TOOK_OTHER, "not treated": TOOK_NOTHING}
_NO_ARM: Final = ("screen failure", "not assigned", "unplanned", "unplanned treatment")  # words in CDISC's DM domain
_MAX_ARMS: Final = 100


@dataclass(frozen=True)
class TableArms:
    """Arms of a table, the index of the arm chosen in each row (-1: missing), and the treatments taken.

    `taken` has an index into `taken_names` for each row. `probabilities` maps each arm to the title of the column
    with its probability, if there is one. `without_arm` maps each word for "no arm assigned" to its rows.
    """

    order: ArmOrder
    chosen: Ints
    taken: Ints
    taken_names: Sequence[str]
    probabilities: Mapping[str, str]
    without_arm: Mapping[str, Bools]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arms in order."""
        return self.order.names


def table_arms(
    table: Table,
    cells: Mapping[str, Cells],
    titles: Sequence[str],
    prefix: str | None,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
) -> TableArms:
    """Read the arms by the rule of `adhere.records.arms`; `titles` are columns that may have probabilities."""
    named = {title.removeprefix("PROB_") for title in table.titles if title.startswith("PROB_")}
    labels = read_labels(cells["chosen"], named, [] if arms is None else arm_names(arms))
    chosen, words = labels.numbers, labels.names
    without = [name for name in words if name.lower() in _NO_ARM and name not in named]
    assigned = [name for name in words if name not in without]
    taken = read_labels(cells["actual"], named, assigned)
    if len(assigned) > _MAX_ARMS:
        where = f"{table.source}, column {cells['chosen'].title}"
        raise InputError(where, f"{len(assigned):,} different values", f"the names of at most {_MAX_ARMS} arms")
    probabilities = probability_columns(titles, assigned, prefix)
    if prefix is not None and titles and not probabilities:
        expected = f"how the columns of the arms' probabilities begin: {listed(prefix + name for name in assigned)}"
        raise InputError(f"{table.source}, propensity", prefix, f"{expected} (found: {listed(titles)})")
    says_both = len(probabilities) == 1 and len(assigned) == 2  # the probability of one arm gives that of the other
    titled = [] if says_both else list(probabilities)
    categories = [] if titled else cells["chosen"].categories
    found = ordered_arms(titled or assigned, arms=arms, control=control, categories=categories, probabilities=titled)
    names = found.names
    probabilities = {name: probabilities[name] for name in names if name in probabilities}
    for number, name in enumerate(words):
        if name in without:
            continue
        if name not in names or not name.isprintable():
            where = cells["chosen"].where(int(np.argmax(chosen == number)))
            known = f"an arm with a column for its probability: {', '.join(probabilities.values())}"
            raise InputError(where, name, known if name.isprintable() else "a name in printable text")
    if len(names) < 2:
        said = f"only one arm was assigned: {names[0]!r}" if names else "no arm was assigned"
        raise InputError(table.source, names, "at least two arms", f"{table.source}: {said}; two can be compared")
    order = np.array([*(-1 if name in without else names.index(name) for name in words), -1], dtype=np.int64)
    without_arm = {name: chosen == words.index(name) for name in without}
    notes = tuple(dict.fromkeys((*labels.notes, *taken.notes)))
    return TableArms(found, order[chosen], taken.numbers, taken.names, probabilities, without_arm, notes)


def warnings_of(arms: TableArms, patients: Ints) -> list[str]:
    """Return warnings on arms that were taken but never assigned, and on labels that were merged into one arm."""
    said = []
    for number, name in enumerate(arms.taken_names):
        n = int(patients[arms.taken == number].sum())
        if n and name not in arms.names and name.lower() not in IN_WORDS:
            close = get_close_matches(name.lower(), [arm.lower() for arm in arms.names], n=1)
            hint = f"; is it {next(arm for arm in arms.names if arm.lower() == close[0])!r}?" if close else ""
            who = "1 patient" if n == 1 else f"{n:,} patients"
            said.append(f"{who} took {name!r}, which was never assigned: counted as took something else{hint}")
    return said + list(arms.notes)


_A_PROBABILITY: Final = "a probability, a number from 0 to 1"
_ABOVE_0: Final = "a probability above 0, since this arm was chosen"
_BELOW_1: Final = "a probability below 1, since the other arm was chosen"
_TOLERANCE: Final = 1e-6


def table_probabilities(
    table: Table,
    found: Mapping[str, str],
    series: Mapping[str, pl.Series],
    arms: TableArms,
    kept: Bools,
    warnings: list[str],
) -> Floats | None:
    """Return the probability of every arm in every row, NaN if unknown; None if no row has a probability.

    `found` maps contents to titles of columns: "propensity", or "probability of …" for each arm.
    """
    columns = {what: title for what, title in found.items() if what.startswith(("propensity", "probability of "))}
    if not columns:
        return None
    if "count" in found:
        where = f"{table.source}, column {found['count']}"
        expected = "a row for each patient where there are probabilities: counts do not say in which order"
        raise InputError(where, "a count of patients", expected)
    cells = [Cells(table, title, series[title]) for title in columns.values()]
    values = np.stack([one.numbers(_A_PROBABILITY, _is_probability) for one in cells], axis=1)
    known = ~np.isnan(values).any(axis=1) & kept
    if "propensity" in columns:
        _check_drawn(cells[0], values[:, 0], known)
        if len(arms.names) > 2:
            title = cells[0].title
            warnings.append(f"column {title} has the probability of the arm chosen alone: {PROBABILITIES_NEEDED}")
            # Known probabilities still show whether the allocation adapted.
            own = arms.chosen[:, None] == np.arange(len(arms.names))
            return np.where(own & known[:, None], values, np.nan) if known.any() else None
        values = np.where(arms.chosen[:, None] == np.arange(2), values, 1.0 - values)
    else:
        if len(cells) == 1:
            drawn = arms.names.index(next(iter(arms.probabilities)))
            values = np.where(np.arange(2) == drawn, values, 1.0 - values)
            cells *= 2  # the same column gives both
        _check_sums(table, cells, values, known)
        for number, (arm, one) in enumerate(zip(arms.names, cells, strict=True)):
            expected = _ABOVE_0 if arm in arms.probabilities else _BELOW_1
            _check_drawn(one, values[:, number], known & (arms.chosen == number), expected)
    lacking = np.flatnonzero(kept & ~known)
    if not known.any():
        return None if len(lacking) else values
    if len(lacking):
        warnings.append(missing_probabilities(len(lacking), table.place(int(lacking[0]))))
    return np.where(known[:, None], values, np.nan)


def _is_probability(values: Floats) -> Bools:
    return (values >= 0.0) & (values <= 1.0)


def _check_drawn(cells: Cells, values: Floats, rows: Bools, expected: str = _ABOVE_0) -> None:
    wrong = np.flatnonzero(rows & (values == 0.0))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(cells.where(row), cells.value(row), expected)


def _check_sums(table: Table, cells: list[Cells], values: Floats, known: Bools) -> None:
    wrong = np.flatnonzero(known & (np.abs(values.sum(axis=1) - 1.0) > _TOLERANCE))
    if len(wrong):
        row = int(wrong[0])
        where = f"{table.source}, {table.place(row)}, columns {', '.join(one.title for one in cells)}"
        total = values[row].sum()
        raise InputError(where, values[row].tolist(), f"probabilities that sum to one, not to {total:.10g}")
