"""Read a population from a CSV file of counts or of single patient records.

The columns are `chosen, actual, reward[, count]`, or in the words of CDISC `TRTP, TRTA, AVAL[, N]`, in any
order and case; others are ignored. Without a count each row is one patient. The arms are those that were
chosen, in order of first appearance; every arm that was taken must be one of them. Arms are unescaped as in a table
that `adhere trial export` wrote (`adhere.csv_cells`). ::

    chosen,actual,reward,count
    none,none,1,8666
    none,none,0,901
    none,aspirin,1,135
    aspirin,aspirin,1,8163
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from adhere.checks import check_count, check_reward
from adhere.csv_cells import reward_in, unescape
from adhere.errors import InputError, nearest
from adhere.populations.counts import Count, Counts
from adhere.populations.csv_rows import columns, csv_rows

PLAIN = ("chosen", "actual", "reward", "count")
CDISC = ("TRTP", "TRTA", "AVAL", "N")

T = TypeVar("T")


def read_counts(path: str | Path) -> Counts:
    """The population of a `.csv` or `.csv.gz` file, named after it."""
    path = Path(path)
    rows = csv_rows(path)
    _, header = next(rows)
    words = _vocabulary(header)
    names = words if words[3].lower() in (title.lower() for title in header) else words[:3]
    place = columns(path, header, names)
    chosen_column, actual_column, reward_column, count_column = words

    totals: dict[tuple[str, str, float], int] = defaultdict(int)
    first_line_taken: dict[str, int] = {}
    for line, cells in rows:
        value = {name: cells[index] for name, index in place.items()}
        where = {name: f"{path}, line {line}, column {name}" for name in words}
        for column in (chosen_column, actual_column):
            if not value[column]:
                raise InputError(where[column], value[column], "the name of an arm")
        reward = _number(check_reward, where[reward_column], value[reward_column])
        count = _number(check_count, where[count_column], value.get(count_column, "1"))
        chosen, actual = unescape(value[chosen_column]), unescape(value[actual_column])
        totals[chosen, actual, reward] += count
        first_line_taken.setdefault(actual, line)

    if not totals:
        raise InputError(str(path), ",".join(header), "at least one row below the header")
    arms = tuple(dict.fromkeys(chosen for chosen, _, _ in totals))
    for arm, line in first_line_taken.items():
        if arm not in arms:
            where_taken = f"{path}, line {line}, column {actual_column}"
            raise InputError(where_taken, arm, f"an arm that is also chosen, {nearest(arm, arms)}")
    try:
        return Counts(_stem(path), arms, [Count(*cell, count) for cell, count in totals.items()])
    except InputError as error:
        raise InputError(f"{path}, {error.field}", error.value, error.expected) from None


def _vocabulary(header: list[str]) -> tuple[str, str, str, str]:
    """CDISC's words or ours, whichever the header has more of; ours when it has neither."""
    titles = {title.lower() for title in header}
    n_plain, n_cdisc = (sum(word.lower() in titles for word in words[:3]) for words in (PLAIN, CDISC))
    return CDISC if n_cdisc > n_plain else PLAIN


def _number(check: Callable[[str, object], T], where: str, text: str) -> T:
    """Check a number written as text; an error shows the text as it was written."""
    try:
        return check(where, reward_in(text))
    except InputError as error:
        raise InputError(where, text, error.expected) from None
    except ValueError:
        raise InputError(where, text, "a number") from None


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.removesuffix(".csv") or name
