"""Read the fields of a form, and note a problem for each wrong field instead of stopping at the first."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from adhere.errors import InputError
from adhere.service.pages.forms.numbers import Kind, number, numbers, valued_lines

Value = TypeVar("Value")


class FormReader:
    """A reader of a form's fields. `problems` has a message for each field that cannot be read.

    >>> reader = FormReader({"n_patients": "many", "floor.share": "20%"})
    >>> reader.number("n_patients", "whole"), reader.number("floor.share", "share"), reader.problems
    (None, 0.2, {'n_patients': '“many” is not a whole number; write digits, such as 400.'})
    """

    def __init__(self, form: Mapping[str, str]) -> None:
        self.form, self.problems = form, dict[str, str]()

    def text(self, name: str) -> str:
        """Return the text of a field without the blanks around it, or an empty text if the field was not sent."""
        return self.form.get(name, "").strip()

    def refuse(self, name: str, sentence: str) -> None:
        """Note a problem of a field. Only the first problem of each field counts."""
        self.problems.setdefault(name, f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence[-1] in '.?' else '.'}")

    def number(self, name: str, kind: Kind = "number") -> int | float | None:
        """Return the number in a field, or None if the field is empty or wrong."""
        return self._read(name, lambda text: number(text, kind), None)

    def numbers(self, name: str, kind: Kind = "number", lowest: float = 0.0) -> list[int | float]:
        """Return the numbers in a field, or an empty list if the field is empty or wrong."""
        return self._read(name, lambda text: numbers(text, kind, lowest), [])

    def one_or_all(self, name: str, kind: Kind = "number") -> Any:
        """Return the number in a field, a list of several numbers, or None if the field is empty or wrong.

        >>> reader = FormReader({"one": "0.99", "several": "0.999, 0.99"})
        >>> [reader.one_or_all(name, "share") for name in ("one", "several", "none")]
        [0.99, [0.999, 0.99], None]
        """
        found = self.numbers(name, kind)
        return found if len(found) > 1 else found[0] if found else None

    def valued_lines(self, name: str) -> dict[str, float]:
        """Return the words in a field with their numbers, or an empty mapping if the field is empty or wrong."""
        return self._read(name, valued_lines, {})

    def _read(self, name: str, read: Callable[[str], Value], otherwise: Value) -> Value:
        try:
            return read(self.text(name))
        except InputError as error:
            self.refuse(name, error.sentence)
            return otherwise
