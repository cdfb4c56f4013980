"""Read records from a CSV or Parquet file or a frame: of counts, or with a row for each patient.

The columns are `chosen, actual, reward[, count]`, or in the words of CDISC `TRTP, TRTA, AVAL[, N]`, `ARM, ACTARM,
AVAL` or `TRT01P, TRT01A, AVAL`, in any order and case, or those that are named; others are ignored. Without a count
(or `n`) each row is one patient. The arms are those that were chosen, the control first, in the order that
`adhere.records.arms` says; every arm taken must be one of them.
What is missing stays missing: an empty cell, NA, N/A, NaN, null or a point, in any case. An arm cannot be called so,
unless a column PROB_… says that there is such an arm, as in an export. Who took none of the arms has "took nothing"
or "took something else" in place of the arm taken. A table that `adhere trial export` wrote says so in TRTASTAT, and
also who was lost to follow-up (WITHDFL), what was entered in error (INERRFL) and what is only assumed (TRTADTYP,
DTYPE), and whether a lower outcome is better (LOWERFL): then an outcome y is read as 1 − y. Its arms are unescaped
(`adhere.csv_cells`). ::

    chosen,actual,reward,count
    none,none,1,8666
    none,none,0,901
    none,aspirin,1,135
    aspirin,aspirin,1,8163
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adhere.errors import InputError, nearest
from adhere.populations.records import NoArm, Record, Records, Taken
from adhere.records.arms import arm_names, ordered_arms, read_labels
from adhere.records.columns import EXPORTED, LOWER, direction_column, find_columns
from adhere.records.table import open_table

if TYPE_CHECKING:
    from adhere.records.cells import Cells

_STATUS = {"NOTHING": NoArm.NOTHING, "OTHER": NoArm.OTHER}
_IN_WORDS = {kind.value: kind for kind in _STATUS.values()}


def read_records(
    given: object,
    name: str | None = None,
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    lower_is_better: bool | None = None,
    **columns: str | None,
) -> Records:
    """The records of a frame or a file; `columns` names the columns for chosen, actual, reward and count.

    With `lower_is_better`, by default if the table says so, an outcome y is read as 1 − y.
    """
    if lower_is_better not in (None, True, False):
        raise InputError("lower_is_better", lower_is_better, "True or False")
    from adhere.records.cells import Cells

    table = open_table(given, "as_population")
    found = find_columns(table.source, table.titles, columns, table.hint)
    roles = dict(found)
    if found["actual"].upper() == "TRTA":
        roles |= {title.upper(): title for title in table.titles if title.upper() in EXPORTED}
    if lower := direction_column(table.titles, found["reward"]):
        roles[LOWER] = lower
    read = table.columns(list(roles.values()))
    cells = {role: Cells(table, title, read[title]) for role, title in roles.items()}

    listed = [title.removeprefix("PROB_") for title in table.titles if title.startswith("PROB_")]
    labels = read_labels(cells["chosen"], listed, [] if arms is None else arm_names(arms))
    chosen, assigned = labels.numbers, labels.names
    if not len(chosen):
        raise InputError(table.source, "no rows", "at least one row below the header")
    categories = cells["chosen"].categories
    titled = listed if set(listed) == set(assigned) else []
    order = ordered_arms(assigned, arms=arms, control=control, categories=categories, probabilities=titled)
    order = order.control_first() if assigned else order
    counts = cells["count"].counts() if "count" in cells else np.ones(len(chosen), dtype=np.int64)
    is_marked = LOWER in cells and cells[LOWER].lower_is_better()
    is_lower = is_marked if lower_is_better is None else lower_is_better
    rewards = 1.0 - cells["reward"].rewards() if is_lower else cells["reward"].rewards()
    taken, meanings, notes = _taken(cells, listed, assigned)
    for number, arm in enumerate(meanings):
        if isinstance(arm, str) and arm not in assigned and np.any(taken == number):
            place, expected = table.place(int(np.argmax(taken == number))), nearest(arm, order.names)
            sentence = (
                f"{table.source}, {place}: arm {arm!r} was taken but never assigned; expected {expected}, or"
                f" {' or '.join(_IN_WORDS)}"
            )
            raise InputError(f"{table.source}, {place}", arm, expected, sentence)

    def marked(title: str, word: str) -> Any:
        return cells[title].equals(word) if title in cells else np.zeros(len(chosen), dtype=np.bool_)

    in_error = marked("INERRFL", "Y")
    n_in_error, counts = int(counts[in_error].sum()), np.where(in_error, 0, counts)
    imputed = {
        part: int(counts[marked(title, "IMPUTED")].sum())
        for part, title in (("arms taken", "TRTADTYP"), ("outcomes", "DTYPE"))
    }
    unit, count_title = "patients" if "count" in found else "rows", found.get("count", "")
    by_name = count_title if count_title.lower() == "n" and not columns.get("count") else ""
    if by_name and len(counts) > 2 and np.array_equal(counts, np.arange(1, len(counts) + 1)):
        say = f"column {by_name} numbers the rows; rename it, or say that it counts patients: count={by_name!r}"
        raise InputError(f"{table.source}, column {by_name}", "1, 2, 3, …", say, f"{table.source}: {say}")
    return Records(
        name=name or table.name,
        source=table.source,
        arms=order.names,
        patients=_counted([*assigned, ""], chosen, meanings, taken, rewards, counts, ~in_error),
        columns=found,
        unit=unit,
        lost=int(counts[np.isnan(rewards) & marked("WITHDFL", "Y")].sum()),
        in_error=n_in_error,
        imputed={part: n for part, n in imputed.items() if n},
        separator=table.separator,
        count_by_name=by_name,
        rehearsal=bool(marked("REHEARSAL", "Y").any()),
        lower_is_better=is_lower,
        arm_order=order.sentence if assigned else "",
        notes=tuple(dict.fromkeys((*labels.notes, *notes))),
    )


def _taken(
    cells: dict[str, Cells], listed: Sequence[str], assigned: Sequence[str]
) -> tuple[Any, list[Taken], tuple[str, ...]]:
    """What was taken in each row, by its number, and what the numbers mean; the last one, -1, is "not known"."""
    labels = read_labels(cells["actual"], listed, assigned)
    taken = labels.numbers
    meanings: list[Taken] = [_IN_WORDS.get(name.lower(), name) for name in labels.names]
    if "TRTASTAT" in cells:
        for word, kind in _STATUS.items():
            taken = np.where(cells["TRTASTAT"].equals(word), len(meanings), taken)
            meanings.append(kind)
    return taken, [*meanings, NoArm.UNKNOWN], labels.notes


def _counted(
    arms: list[str], chosen: Any, meanings: list[Taken], taken: Any, rewards: Any, counts: Any, kept: Any
) -> Any:
    """How many patients there are of each kind, in order of first appearance."""
    import polars as pl

    columns = {"chosen": chosen, "taken": taken, "reward": rewards, "count": counts}
    rows = pl.DataFrame({name: column[kept] for name, column in columns.items()})
    kinds = rows.group_by("chosen", "taken", "reward", maintain_order=True).agg(pl.col("count").sum())
    patients: dict[Record, int] = defaultdict(int)
    for arm, what, reward, count in kinds.rows():
        patients[Record(arms[arm], meanings[what], None if np.isnan(reward) else reward)] += count
    return dict(patients)
