"""Read records to analyse from a CSV or Parquet file or a frame; docs/reference/analysis-records.md has the rules."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from adhere.analysis.reading.table_arms import IN_WORDS, TableArms, table_arms, table_probabilities, warnings_of
from adhere.analysis.reading.table_columns import (
    check_subjects,
    decision_order,
    missing_places,
    sorted_ties,
    unused_probabilities,
)
from adhere.analysis.records import (
    IN_ERROR,
    NEVER,
    NOT_KNOWN,
    TOOK_NOTHING,
    TOOK_OTHER,
    Bools,
    Ints,
    Records,
    digest_of,
)
from adhere.errors import InputError
from adhere.records.arms import sorted_names
from adhere.records.cells import Cells
from adhere.records.column_roles import (
    EXPORTED,
    LOWER,
    check_roles,
    exported_columns,
    find_columns,
    find_optional,
    may_hold_probabilities,
)
from adhere.records.table import open_table

_PLACES: Final = ("RECPOS", "SEENPOS", "TRTAPOS", "AVALPOS")
_EXPORTED: Final[tuple[str, ...]] = (*EXPORTED, LOWER, "ESTFL", "RECOMMENDATION_ID", *_PLACES)
_STATUS: Final = {"NOTHING": TOOK_NOTHING, "OTHER": TOOK_OTHER}
_MAX_STRATA: Final = 1000
_NOBODY: Final = "there are no patients: no row has an assigned arm"


def read_records(
    given: object,
    *,
    chosen: str | None = None,
    actual: str | None = None,
    reward: str | None = None,
    propensity: str | None = None,
    stratum: str | None = None,
    time: str | None = None,
    count: str | None = None,
    subject: str | None = None,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
) -> Records:
    """Read records from a file (.csv, .csv.gz, .tsv, .parquet) or a frame of polars, pandas or Arrow.

    Parameters
    ----------
    given
        Path of the file, or the frame.
    chosen, actual, reward, count, stratum, time, subject
        Names of columns that have none of the usual names.
    propensity
        Name of the column with the probability of the arm chosen, or the common prefix of the columns with each arm's
        probability.
    arms
        All arms, in the order in which to show them. The default is the order of a categorical column, of the columns
        of probabilities, or of the names.
    control
        Arm with which the others are compared. The default is an arm called control, placebo, none, usual care,
        standard of care, sham or no treatment; otherwise the first arm.

    An `InputError` names the file, the line, the column and the expected value.

    >>> import polars
    >>> rows = {"chosen": ["walk", "tea"], "actual": ["walk", None], "reward": [1, 0]}
    >>> records = read_records(polars.DataFrame(rows), control="walk")
    >>> records.arms, records.arms[records.control], records.actual.tolist()
    (('tea', 'walk'), 'walk', [1, -3])

    """
    table = open_table(given, "analyse")
    asked = {
        **{"chosen": chosen, "actual": actual, "reward": reward, "count": count},
        **{"propensity": propensity, "stratum": stratum, "time": time, "subject": subject},
    }
    found = find_columns(table.source, table.titles, asked, table.hint)
    found |= find_optional(table.source, table.titles, asked)
    check_roles(table.source, found)
    exported = exported_columns(table.titles, found, _EXPORTED)
    if "RECPOS" in exported and time is None:
        found.pop("time", None)
    # Columns of every arm's probability are preferred to one of the arm chosen, unless the latter was requested.
    is_one = propensity is not None and "propensity" in found
    probable = [] if is_one else may_hold_probabilities(table.titles, propensity)
    if not is_one and any(title.startswith("PROB_") for title in probable):
        found.pop("propensity", None)
    columns = {**found, **exported}
    series = dict(table.columns([*columns.values(), *probable]))
    cells = {name: Cells(table, title, series[title]) for name, title in columns.items()}
    by_arm = table_arms(table, cells, probable, propensity, arms, control)
    if by_arm.probabilities:
        found.pop("propensity", None)
        found |= {f"probability of {arm}": title for arm, title in by_arm.probabilities.items()}

    warnings: list[str] = []
    counts, by_name = cells["count"].patients(is_named=bool(count)) if "count" in cells else (None, "")
    warnings += [by_name] * bool(by_name)
    patients = np.ones(len(by_arm.chosen), dtype=np.int64) if counts is None else counts
    in_error = cells["INERRFL"].equals("Y") if "INERRFL" in cells else np.zeros(len(patients), dtype=np.bool_)
    reasons = {
        "without an assigned arm": int(patients[(by_arm.chosen < 0) & ~in_error].sum()),
        IN_ERROR: int(patients[in_error].sum()),
    }
    kept = (by_arm.chosen >= 0) & (patients > 0) & ~in_error
    for word, rows in by_arm.without_arm.items():
        n = int(patients[rows].sum())
        people = "1 patient was" if n == 1 else f"{n:,} patients were"
        warnings.append(f"{word!r} is no arm: {people} left out, as without an assigned arm")
    if not kept.any():
        none = "the counts add up to no patients" if len(patients) and not patients.any() else _NOBODY
        warnings.append(none + " and a count above 0" * (none == _NOBODY and counts is not None))
    warnings += warnings_of(by_arm, np.where(kept, patients, 0))
    named = [title for title in probable if not title.lower().startswith("p_")]
    if named and not by_arm.probabilities and "propensity" not in found:
        warnings.append(unused_probabilities(named, by_arm.names))
    rewards = cells["reward"].rewards()
    probabilities = table_probabilities(table, found, series, by_arm, kept, warnings)
    has_all = probabilities is not None and not bool(np.isnan(probabilities[kept]).any())
    order, batch, by, says = decision_order(cells, kept, has_all, warnings, by_time=time is not None)
    if by == "RECOMMENDATION_ID":
        found.pop("time", None)
    lacking = [name for name in _PLACES if name not in cells]
    if has_all and 0 < len(lacking) < len(_PLACES):
        warnings.append(missing_places(lacking))
    if counts is None:
        check_subjects(table, cells, kept, warnings)
    del series

    def flags(name: str, word: str) -> Bools | None:
        return cells[name].equals(word)[order] if name in cells else None

    strata, stratum_of = _strata(cells, order)
    records = Records(
        name=table.name,
        source=table.source,
        arms=by_arm.names,
        chosen=by_arm.chosen[order],
        actual=_taken(cells, by_arm)[order],
        reward=rewards[order],
        control=by_arm.order.control,
        count=None if counts is None else counts[order],
        probabilities=None if probabilities is None else probabilities[order],
        estimated=None if probabilities is None else flags("ESTFL", "Y"),
        batch=batch,
        strata=strata,
        stratum=stratum_of,
        lost=flags("WITHDFL", "Y"),
        imputed_actual=flags("TRTADTYP", "IMPUTED"),
        imputed_reward=flags("DTYPE", "IMPUTED"),
        columns=found,
        left_out={reason: n for reason, n in reasons.items() if n},
        warnings=tuple(warnings),
        order=says,
        arm_order=by_arm.order.sentence,
        rehearsal="REHEARSAL" in cells and bool(cells["REHEARSAL"].equals("Y").any()),
        lower_is_better=LOWER in cells and cells[LOWER].lower_is_better(),
    )
    records = sorted_ties(_with_places(records, cells, order))
    return replace(records, digest=digest_of(records))


def _taken(cells: dict[str, Cells], arms: TableArms) -> Ints:
    """Return the arm taken in each row: the index of an arm, TOOK_NOTHING, TOOK_OTHER or NOT_KNOWN."""
    known = {name: number for number, name in enumerate(arms.names)}
    numbers = [known.get(name, IN_WORDS.get(name.lower(), TOOK_OTHER)) for name in arms.taken_names]
    taken = np.array([*numbers, NOT_KNOWN], dtype=np.int64)[arms.taken]
    if "TRTASTAT" in cells:
        status, words = cells["TRTASTAT"].arms()
        meaning = np.array([*(_STATUS.get(word.upper(), NOT_KNOWN) for word in words), NOT_KNOWN], dtype=np.int64)
        said = meaning[status]
        taken = np.where(said != NOT_KNOWN, said, taken)
    return taken


def _strata(cells: dict[str, Cells], order: Ints) -> tuple[tuple[str, ...], Ints | None]:
    if "stratum" not in cells:
        return (), None
    numbers, names = cells["stratum"].arms()
    for number, name in enumerate(names):
        if not name.isprintable():
            where = cells["stratum"].where(int(np.argmax(numbers == number)))
            raise InputError(where, name, "a name in printable text")
    numbers = numbers[order]
    if np.any(numbers < 0):
        names = [*names, "(missing)"]  # for index -1
    if len(names) > _MAX_STRATA:
        title, source = cells["stratum"].title, cells["stratum"].table.source
        expected = f"at most {_MAX_STRATA:,} strata"
        raise InputError(f"{source}, column {title}", f"{len(names):,} different values", expected)
    strata = sorted_names(names)
    ranks = np.array([strata.index(name) for name in names], dtype=np.int64)
    return tuple(strata), ranks[numbers]


def _with_places(records: Records, cells: dict[str, Cells], order: Ints) -> Records:
    """Add log positions from an export: up to where the policy had learned, and where reports begin to count."""
    if not set(_PLACES) <= set(cells):
        return records

    def places(name: str, known: Bools) -> Ints:
        expected = "the number of a record of the log, a whole number from 0"
        numbers = cells[name].numbers(expected, lambda values: (values >= 0) & (values == np.floor(values)))[order]
        lacking = np.flatnonzero(known & np.isnan(numbers))
        if len(lacking):
            raise InputError(cells[name].where(int(order[lacking[0]])), None, expected)
        return np.where(known, np.nan_to_num(numbers), NEVER).astype(np.int64)

    return replace(
        records,
        seen=places("SEENPOS", np.ones(len(order), dtype=np.bool_)),
        actual_at=places("TRTAPOS", records.actual != NOT_KNOWN),
        reward_at=places("AVALPOS", records.has_reward),
    )
