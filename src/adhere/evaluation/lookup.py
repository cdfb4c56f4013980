"""Where among the results of an evaluation one stands."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.checks import is_integer
from adhere.design.design import Design
from adhere.errors import InputError, nearest
from adhere.evaluation.scenarios.scenario import Scenario


def place_of(key: object, scenarios: Sequence[Scenario], designs: Sequence[Design]) -> int:
    """The place of `scenario` or `scenario, design`, by names, values or places; without a design it is the first."""
    wanted, design = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
    return _place("scenario", wanted, scenarios) * len(designs) + _place("design", design, designs)


def _place(field: str, wanted: object, values: Sequence[Scenario | Design]) -> int:
    """The place of a value among others, by its place, itself, or its name."""
    if is_integer(wanted):
        if not -len(values) <= wanted < len(values):
            raise IndexError(f"{field}: got {wanted}, expected a place from 0 to {len(values) - 1}")
        return range(len(values))[wanted]
    for place, value in enumerate(values):
        if wanted is value or wanted == value.name:
            return place
    text = str(getattr(wanted, "name", wanted))
    raise InputError(field, text, nearest(text, [value.name for value in values]))
