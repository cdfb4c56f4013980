"""The lengths of a user's fields: computed once from a rule, and kept in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adhere.checks import is_number
from adhere.compilation.layout import LENGTH, MAX_LENGTH, Layout, Vector
from adhere.compilation.places import Place, sentence_of, traceback_place
from adhere.compilation.refusing import is_foreign
from adhere.errors import SourceError


def fields_to_measure(*layouts: type[Layout]) -> Iterator[Vector]:
    """Yield the fields whose length is a user's function of the rule."""
    for layout in layouts:
        for field in layout.fields.values():
            if isinstance(field, Vector) and callable(field.length) and is_foreign(field.length):
                yield field


def with_lengths(rule: Any) -> Any:
    """Return a rule with the lengths of its fields; raises a `SourceError` for a length that makes no sense."""
    fields = fields_to_measure(rule.State, rule.Memo)
    return rule._replace(**{field.name_in_rule: _length(field, rule) for field in fields})


def _length(field: Vector, rule: Any) -> int:
    length: Any = field.length
    code = getattr(length, "__code__", None)
    place = Place(code.co_filename, code.co_firstlineno) if code else None
    try:
        value = length(rule)
    except Exception as error:
        where = traceback_place(error.__traceback__) or place
        raise SourceError(str(where or field.name), f"the length of {field.name}: {sentence_of(error)}") from None
    if not is_number(value) or not 0 <= value <= MAX_LENGTH or value != int(value):
        reason = f"the length of {field.name} is {value}; expected {LENGTH}"
        raise SourceError(str(place or field.name), reason)
    return int(value)
