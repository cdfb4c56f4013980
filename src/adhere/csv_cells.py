"""Cells of CSV files: text that spreadsheets must not read as formulas, missing values, and rewards.

An apostrophe is put before a cell that begins with =, +, -, @, a tab or a line end. The same holds for a cell in
which apostrophes precede such a character, so that removing one apostrophe restores the original text. Numbers are
not text and stay unchanged.
"""

import re

# In the syntax that the regular expressions of Python and polars share.
FORMULA = r"^'*[=+\-@\t\r\n]"
ESCAPED_FORMULA = r"^'+[=+\-@\t\r\n]"

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "."})


def escape(text: str) -> str:
    """Return the content of the cell that stores a text.

    >>> escape("=1+1"), escape("'=1+1"), escape("'t Hooft")
    ("'=1+1", "''=1+1", "'t Hooft")
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def unescape(cell: str) -> str:
    """Return the text that a cell stores.

    >>> unescape("'=1+1"), unescape("'t Hooft")
    ('=1+1', "'t Hooft")
    """
    return cell[1:] if re.match(ESCAPED_FORMULA, cell) else cell


def is_missing(text: str) -> bool:
    """Return whether a cell means a missing value: R writes NA, pandas NaN, SAS a point, databases null.

    >>> is_missing("NA"), is_missing(""), is_missing("none")
    (True, True, False)
    """
    return text.strip().lower() in _MISSING


def reward_in(cell: str) -> float:
    """Return the reward in a cell: a number, or true (1) or false (0) in any case. Raise a ValueError otherwise.

    >>> reward_in("0.5"), reward_in("TRUE")
    (0.5, 1.0)
    """
    known = {"true": 1.0, "false": 0.0}.get(cell.lower())
    # Python would read 1_0 as ten, but in a data file it is a mistake.
    return float(cell.replace("_", "?")) if known is None else known
