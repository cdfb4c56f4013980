"""Read records from a CSV or Parquet file or a frame: of counts, or with a row for each patient.

The columns are `chosen, actual, reward[, count]`, or in the words of CDISC `TRTP, TRTA, AVAL[, N]` or `ARM, ACTARM,
AVAL`, in any order and case, or those that are named; others are ignored. Without a count (or `n`) each row is one
patient. The arms are those that were chosen, in order of first appearance; every arm taken must be one of them.
What is missing stays missing: an empty cell, NA, N/A, NaN, null or a point, in any case. An arm cannot be called so,
unless a column PROB_… says that there is such an arm, as in an export. Who took none of the arms has "took nothing"
or "took something else" in place of the arm taken. A table that `adhere trial export` wrote says so in TRTASTAT, and
also who was lost to follow-up (WITHDFL) and what is only assumed (TRTADTYP, DTYPE); its arms are unescaped
(`adhere.csv_cells`). ::

    chosen,actual,reward,count
    none,none,1,8666
    none,none,0,901
    none,aspirin,1,135
    aspirin,aspirin,1,8163
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from adhere.checks import check_count, check_reward
from adhere.csv_cells import is_missing, reward_in, unescape
from adhere.errors import InputError, nearest
from adhere.files import unreadable
from adhere.frames import Frame, arm_text, is_frame
from adhere.populations.records import NoArm, Record, Records
from adhere.records.columns import EXPORTED, find_columns
from adhere.records.csv_rows import SEPARATORS, csv_rows

T = TypeVar("T")

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".parquet")
_STATUS = {"NOTHING": NoArm.NOTHING, "OTHER": NoArm.OTHER}
_IN_WORDS = {kind.value: kind for kind in _STATUS.values()}
_A_REWARD = "a number from 0 to 1, true or false, or nothing (also NA) where it is missing"
_OF_A_FILE = "; --chosen, --actual and --reward (in Python: chosen=…) say which columns are meant"
_OF_A_FRAME = "; as_population(frame, chosen=…, actual=…, reward=…) says which columns are meant"


@dataclass(frozen=True)
class _Table:
    """A table of either kind: its rows come with their place, "line 5" or "row 4", and the values of some columns."""

    source: str
    name: str
    titles: Sequence[str]
    rows: Callable[[Sequence[str]], Iterator[tuple[str, list[Any]]]]
    hint: str
    separator: str = ""


def is_table(given: object) -> bool:
    """Whether something is a frame or the name of a file that may hold records."""
    return is_frame(given) or (isinstance(given, (str, PathLike)) and str(given).strip().lower().endswith(SUFFIXES))


def read_records(given: object, name: str | None = None, **columns: str | None) -> Records:
    """The records of a frame or a file; `columns` names the columns for chosen, actual, reward and count."""
    table = _frame_table("table", Frame(given)) if is_frame(given) else _file_table(Path(str(given).strip()))
    found = find_columns(table.source, table.titles, columns, table.hint)
    roles = dict(found)
    if found["actual"].upper() == "TRTA":
        roles |= {title.upper(): title for title in table.titles if title.upper() in EXPORTED}

    listed = {title.removeprefix("PROB_") for title in table.titles if title.startswith("PROB_")}
    patients: dict[Record, int] = defaultdict(int)
    first_taken: dict[str, str] = {}
    imputed: dict[str, int] = defaultdict(int)
    lost, counts = 0, []
    for place, values in table.rows(list(roles.values())):
        cell = dict(zip(roles, values, strict=True))
        where = {role: f"{table.source}, {place}, column {title}" for role, title in found.items()}
        count = _count(where["count"], cell["count"]) if "count" in found else 1
        counts.append(count)
        status = arm_text(cell.get("TRTASTAT")).upper()
        actual = _arm(cell["actual"], listed)
        taken = _STATUS.get(status) or _IN_WORDS.get(actual.lower()) or actual or NoArm.UNKNOWN
        record = Record(
            _arm(cell["chosen"], listed), taken, _reward(where["reward"], cell["reward"], table.separator)
        )
        patients[record] += count
        lost += count if record.reward is None and arm_text(cell.get("WITHDFL")).upper() == "Y" else 0
        for part, title in (("arms taken", "TRTADTYP"), ("outcomes", "DTYPE")):
            imputed[part] += count if arm_text(cell.get(title)).upper() == "IMPUTED" else 0
        if isinstance(taken, str):
            first_taken.setdefault(taken, place)
    if not patients:
        raise InputError(table.source, "no rows", "at least one row below the header")
    arms = tuple(dict.fromkeys(record.chosen for record in patients if record.chosen))
    for arm, place in first_taken.items():
        if arm not in arms:
            expected = nearest(arm, arms)
            sentence = (
                f"{table.source}, {place}: arm {arm!r} was taken but never assigned; expected {expected}, or"
                f" {' or '.join(_IN_WORDS)}"
            )
            raise InputError(f"{table.source}, {place}", arm, expected, sentence)
    unit, count_title = "patients" if "count" in found else "rows", found.get("count", "")
    by_name = count_title if count_title.lower() == "n" and not columns.get("count") else ""
    if by_name and len(counts) > 2 and counts == list(range(1, len(counts) + 1)):
        say = f"column {by_name} numbers the rows; rename it, or say that it counts patients: count={by_name!r}"
        raise InputError(f"{table.source}, column {by_name}", "1, 2, 3, …", say, f"{table.source}: {say}")
    return Records(
        name or table.name, table.source, arms, dict(patients), found, unit, lost,
        {part: n for part, n in imputed.items() if n}, table.separator, by_name,
    )  # fmt: skip


def _arm(value: object, listed: Collection[str]) -> str:
    """The name of an arm, "" if it is missing; `listed` are names that are arms though they mean "missing"."""
    name = arm_text(value)
    return "" if is_missing(name) and name not in listed else name


def _reward(where: str, value: object, separator: str) -> float | None:
    if value is None or value != value:
        return None
    if not isinstance(value, str):
        return check_reward(where, float(value) if isinstance(value, Decimal) else value)
    text = value.strip()
    if is_missing(text):
        return None
    # Where columns are separated by semicolons, a comma in a number can only be a decimal point.
    return _number(lambda cell: check_reward(where, reward_in(cell)), where, text, _A_REWARD, separator == ";")


def _count(where: str, value: object) -> int:
    if not isinstance(value, str):
        return check_count(where, value)
    return _number(lambda cell: check_count(where, float(cell.replace("_", "?"))), where, value.strip(), "a number")


def _number(check: Callable[[str], T], where: str, text: str, expected: str, decimal_comma: bool = False) -> T:
    """Check a number written as text; an error shows the text as it was written."""
    try:
        return check(text.replace(",", ".") if decimal_comma else text)
    except InputError as error:
        raise InputError(where, text, error.expected) from None
    except ValueError:
        raise InputError(where, text, expected) from None


def _frame_table(source: str, frame: Frame) -> _Table:
    def rows(titles: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
        for number, values in enumerate(zip(*map(frame.values, titles), strict=True), start=1):
            yield f"row {number}", list(values)

    return _Table(source, "table", frame.titles, rows, _OF_A_FRAME)


def _file_table(path: Path) -> _Table:
    if path.suffix.lower() == ".parquet":
        return _parquet_table(path)
    lines = csv_rows(path, errors="surrogateescape")
    _, header, separator = next(lines)
    titles = [unescape(title) for title in header]

    def rows(wanted: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
        places = [titles.index(title) for title in wanted]
        for line, cells, _ in lines:
            values = [cells[place] for place in places]
            for title, value in zip(wanted, values, strict=True):
                if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
                    raw = value.encode(errors="surrogateescape")
                    raise InputError(f"{path}, line {line}, column {title}", raw, "UTF-8 text")
            yield f"line {line}", [unescape(value) for value in values]

    hint = _OF_A_FILE + (f"; it was read as separated by {SEPARATORS[separator]}" if separator != "," else "")
    return _Table(str(path), _stem(path), titles, rows, hint, separator)


def _parquet_table(path: Path) -> _Table:
    import polars as pl

    try:
        frame = Frame(pl.read_parquet(path))
    except OSError as error:
        raise unreadable("file", path, error) from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InputError("file", str(path), f"a table in Parquet that can be read ({reason})") from None
    table = _frame_table(str(path), frame)
    return _Table(str(path), _stem(path), table.titles, table.rows, _OF_A_FILE)


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix) or name
    return name
