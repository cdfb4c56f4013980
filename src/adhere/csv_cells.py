"""Cells of CSV files: text that spreadsheets must not take for formulas, missing values, and rewards.

A cell that begins with =, +, -, @, a tab or the end of a line gets an apostrophe in front, and so does one in which
apostrophes precede such a character: taking one apostrophe away gives back exactly what was there. Numbers are no
text and stay as they are.
"""

import re

# In the syntax that Python's and polars' regular expressions share.
FORMULA = r"^'*[=+\-@\t\r\n]"
ESCAPED_FORMULA = r"^'+[=+\-@\t\r\n]"

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "."})


def escape(text: str) -> str:
    """A text as a cell.

    >>> escape("=1+1"), escape("'=1+1"), escape("'t Hooft")
    ("'=1+1", "''=1+1", "'t Hooft")
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def unescape(cell: str) -> str:
    """The text in a cell.

    >>> unescape("'=1+1"), unescape("'t Hooft")
    ('=1+1', "'t Hooft")
    """
    return cell[1:] if re.match(ESCAPED_FORMULA, cell) else cell


def is_missing(text: str) -> bool:
    """Whether a cell says that its value is missing: R writes NA, pandas NaN, SAS a point, databases null.

    >>> is_missing("NA"), is_missing(""), is_missing("none")
    (True, True, False)
    """
    return text.strip().lower() in _MISSING


def reward_in(cell: str) -> float:
    """The reward in a cell: a number, or true (1) or false (0) in any case; what is none of them is a ValueError.

    >>> reward_in("0.5"), reward_in("TRUE")
    (0.5, 1.0)
    """
    known = {"true": 1.0, "false": 0.0}.get(cell.lower())
    # Python would read 1_0 as ten; in a data file it is a slip.
    return float(cell.replace("_", "?")) if known is None else known
