"""Sentences on what a reader of records may not expect of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adhere.errors import listed

PROBABILITIES_NEEDED: Final = "methods for adaptive allocation need the probability of every arm for every patient"

NO_ORDER: Final = (
    "no column says in which order arms were assigned, so the order of the rows is taken for it; if rows were sorted"
    " by arm or outcome, sets that hold at any time do not hold"
)


def missing_places(lacking: Sequence[str]) -> str:
    """Some of the columns that say what was known when are not there."""
    known = "every outcome is taken as known before the next decision"
    if len(lacking) == 1:
        return f"column {lacking[0]} is missing: without it {known}"
    return f"columns {', '.join(lacking)} are missing: without them {known}"


def missing_probabilities(n: int, first: str) -> str:
    """Some probabilities are not known."""
    many = "1 row" if n == 1 else f"{n:,} rows"
    return f"probabilities are missing in {many}, first in {first}: {PROBABILITIES_NEEDED}"


def unused_probabilities(titles: Sequence[str], arms: Sequence[str]) -> str:
    """Columns are called as if they held probabilities, but of none of the arms."""
    some = f"columns {listed(titles)} end" if len(titles) > 1 else f"column {titles[0]} ends"
    return f"{some} with the name of no arm ({listed(arms)}): not read as probabilities"


def repeated_subjects(n_repeated: int, n_subjects: int, n_rows: int, first: str = "") -> str:
    """Some subjects were given several recommendations; the `first` of them and where."""
    who = "1 subject has" if n_repeated == 1 else f"{n_repeated:,} subjects have"
    return (
        f"{who} several rows ({n_rows:,} rows of {n_subjects:,} subjects{first}): they are analysed as if each were "
        "another patient's, which makes intervals too narrow"
    )
