"""Read numbers in a form's field, such as "0.2", "0,2", "99%" and "1 000". Ambiguous text is refused."""

import re
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from adhere.errors import InputError

Kind: TypeAlias = Literal["whole", "share", "number"]
_BLANKS: Final = "\u00a0\u2007\u2009\u202f"  # narrow and non-breaking spaces, which group thousands
_EXPECTED: Final = {
    "whole": "a whole number; write digits, such as 400",
    "share": "a number from 0 to 1; write it such as 0.2, 0,2 or 20%",
    "number": "a number; write it such as 0.5",
}
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_WHOLE = re.compile(r"[+-]?\d+")
_GROUPED = re.compile(r"\d{1,3}( \d{3})+")
_COMMA = re.compile(r"([+-]?\d+),(\d+)")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+|[1-9]\d{0,2}(\.\d{3})+")
_MAX_DIGITS: Final = 300
_MAX_SHOWN: Final = 60


def number(text: str, kind: Kind = "number") -> int | float | None:
    """Return the number that was typed into a field for one number, or None if the field is empty.

    >>> number("12", "whole"), number("1 000", "whole"), number("0,2", "share"), number("99 %", "share"), number(" ")
    (12, 1000, 0.2, 0.99, None)
    >>> number("1,000", "whole")
    Traceback (most recent call last):
    adhere.errors.InputError: “1,000” can be read as 1000 or as 1.000. Write 1000 or 1
    """
    text = _plain(text)
    return _one(text, kind) if text else None


def numbers(text: str, kind: Kind = "number", lowest: float = 0.0) -> list[int | float]:
    """Return the numbers in a field for several numbers, which are separated by semicolons, blanks, or commas and
    blanks.

    A comma between two digits is a decimal comma or separates two numbers. If both interpretations are valid for the
    field, or if a comma or blank could separate thousands, the text is refused.

    >>> numbers("100, 200 300", "whole"), numbers("50,75", "whole"), numbers("0,2; 0,35", "share")
    ([100, 200, 300], [50, 75], [0.2, 0.35])
    >>> numbers("0,99", "share"), numbers("99%, 95 %", "share")
    ([0.99], [0.99, 0.95])
    >>> numbers("0,1", "share")
    Traceback (most recent call last):
    adhere.errors.InputError: “0,1” can be read as 0.1 or as 0 and 1. Write 0.1 or 0; 1
    """
    text = re.sub(r"\s+%", "%", _plain(text))
    parts = [part for part in re.split(r"[;\s]\s*|,(?=[\s;]|$)", text) if part]
    if _GROUPED.fullmatch(text) and kind != "share":
        raise _ambiguous(text, text.replace(" ", ""), " and ".join(parts), "; ".join(parts))
    if not any(_COMMA.search(part) for part in parts):
        return [_one(part, kind, lowest) for part in parts]
    if any(_THOUSANDS.fullmatch(part) for part in parts if "," in part) and kind != "share":
        part = next(part for part in parts if "," in part and _THOUSANDS.fullmatch(part))
        raise _ambiguous(part, part.replace(",", ""), " and ".join(part.split(",")), "; ".join(part.split(",")))
    decimal = [_read(part, kind, lowest) for part in parts]
    apart = [] if ";" in text else [_read(part, kind, lowest) for part in re.split(r"[,\s]+", text) if part]
    as_decimal = None not in decimal
    as_several = bool(apart) and None not in apart
    if as_decimal and as_several:
        part = next(part for part in parts if _COMMA.search(part))
        raise _ambiguous(part, part.replace(",", "."), " and ".join(part.split(",")), "; ".join(part.split(",")))
    if not as_decimal and not as_several:
        raise _refused(text, kind, lowest)
    return [one for one in (decimal if as_decimal else apart) if one is not None]


def lines(text: str) -> list[str]:
    """Return the non-empty lines of a text, without the blanks around them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def valued_lines(text: str) -> dict[str, float]:
    r"""Return words with their numbers from 0 to 1, typed one per line.

    >>> valued_lines("alive = 1\nill = 0,5\ndied = 0")
    {'alive': 1, 'ill': 0.5, 'died': 0}
    >>> valued_lines("alive")
    Traceback (most recent call last):
    adhere.errors.InputError: “alive” has no number; write it such as alive = 1
    """
    found: dict[str, float] = {}
    for line in lines(text):
        word, _, typed = (part.strip() for part in line.rpartition("="))
        value = number(typed, "share") if word else None
        if value is None:
            raise _error(line, "a word and its number", f"“{_short(line)}” has no number; write it such as alive = 1")
        if word in found:
            raise _error(line, "each word once", f"“{_short(word)}” is there twice")
        found[word] = value
    return found


def _one(text: str, kind: Kind, lowest: float = 0.0) -> int | float:
    found = _read(text, kind, lowest)
    if found is None:
        raise _refused(text, kind, lowest)
    return found


def _read(text: str, kind: Kind, lowest: float = 0.0) -> int | float | None:
    """Return the number in a text, or None if it is not of the kind. Ambiguous text is refused."""
    if len(text) > _MAX_DIGITS:
        return None
    if _THOUSANDS.fullmatch(text) and (kind == "whole" or "," in text) and kind != "share":
        whole, decimal = re.sub("[.,]", "", text), text.replace(",", ".")
        raise _ambiguous(text, whole, decimal, f"{float(decimal):g}" if decimal.count(".") == 1 else whole)
    if kind == "whole":
        text = text.replace(" ", "") if _GROUPED.fullmatch(text) else text
        return int(text) if _WHOLE.fullmatch(text) and not re.fullmatch(r"0\d+", text) else None
    is_percent = text.endswith("%")
    if is_percent and kind == "number":
        return None
    text = text.removesuffix("%").strip()
    text = text.replace(" ", "") if _GROUPED.fullmatch(text) else text
    text = _COMMA.sub(r"\1.\2", text) if _COMMA.fullmatch(text) else text
    if not _PLAIN.fullmatch(text):
        return None
    found = float(Decimal(text) / 100) if is_percent else int(text) if _WHOLE.fullmatch(text) else float(text)
    return found if kind == "number" or lowest <= found <= 1.0 else None


def _plain(text: str) -> str:
    for blank in _BLANKS:
        text = text.replace(blank, " ")
    return text.replace("−", "-").strip()


def _refused(text: str, kind: Kind, lowest: float = 0.0) -> InputError:
    expected = _EXPECTED[kind].replace("from 0", f"from {lowest:g}")
    if kind == "share" and re.fullmatch(r"[1-9]\d|100", text):
        return _error(text, expected, f"“{text}” is more than 1; write {int(text) / 100:g} or {text}%")
    return _error(text, expected, f"“{_short(text)}” is not {expected}")


def _ambiguous(text: str, one: str, other: str, write: str) -> InputError:
    said = f"“{_short(text)}” can be read as {one} or as {other}. Write {one}"
    return _error(text, f"{one} or {write}", said if write == one else f"{said} or {write}")


def _error(text: str, expected: str, sentence: str) -> InputError:
    return InputError("number", text, expected, sentence)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
