"""Numbers and lists from the text of a form's fields; what is none stays text, and the API says what is wrong."""

from __future__ import annotations

from typing import Any


def number(text: str) -> Any:
    """A number; text that is none as it is, and nothing for an empty field.

    >>> number("12"), number("0.5"), number(" "), number("many")
    (12, 0.5, None, 'many')
    """
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def numbers(text: str) -> list[Any]:
    """Numbers with commas or blanks between them.

    >>> numbers("100, 200 300")
    [100, 200, 300]
    """
    return [number(part) for part in text.replace(",", " ").split()]


def lines(text: str) -> list[str]:
    """The lines of a text, without the blanks around them and without empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def valued_lines(text: str) -> dict[str, Any]:
    r"""Words with a number each, one on each line.

    >>> valued_lines("alive = 1\ndied = 0\nunknown")
    {'alive': 1, 'died': 0, 'unknown': None}
    """
    parts = [line.rpartition("=") if "=" in line else (line, "", "") for line in lines(text)]
    return {word.strip(): number(value) for word, _, value in parts}


def one_or_all(text: str) -> Any:
    """One number, or a list of several; nothing for an empty field.

    >>> one_or_all("0.99"), one_or_all("0.999, 0.99"), one_or_all("")
    (0.99, [0.999, 0.99], None)
    """
    found = numbers(text)
    return found if len(found) > 1 else found[0] if found else None
