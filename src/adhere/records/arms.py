"""The arms of a table: which labels mean the same arm, their order, and which arm is the control.

The first of these that applies decides the order: `arms=`, the categories of a categorical column, the columns of the
arms' probabilities, and finally the names (numbers by size, before other names). The control is `control=`, otherwise
the arm with a usual name for a control, otherwise the first arm. In simulations the control is always the first arm,
since policies know arms only by index.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from adhere.errors import InputError, listed, nearest, quoted
from adhere.frames import arm_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adhere.records.cells import Cells

USUAL: Final = ("control", "placebo", "none", "usual care", "standard of care", "sham", "no treatment")
_A_LIST: Final = "a list of the names of all arms"


@dataclass(frozen=True)
class ArmOrder:
    """The arms in their order, the index of the control, and the reasons for the order and for the control."""

    names: tuple[str, ...]
    control: int
    order_by: str
    control_by: str

    @property
    def sentence(self) -> str:
        """The control and the order of the arms, each with the reason.

        >>> print(ordered_arms(["patch", "placebo", "gum"]).sentence)
        control: placebo (a usual name for it); arms in order of their names: gum, patch, placebo
        """
        names = quoted(self.names)
        return f"control: {names[self.control]} ({self.control_by}); arms{self.order_by}: {', '.join(names)}"

    def control_first(self) -> ArmOrder:
        """Return the same arms with the control first."""
        if self.control == 0:
            return self
        control = self.names[self.control]
        others = (arm for arm in self.names if arm != control)
        return ArmOrder((control, *others), 0, f": control first, then{self.order_by}", self.control_by)


def ordered_arms(
    assigned: Sequence[str],
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    categories: Sequence[str] | None = (),
    probabilities: Sequence[str] = (),
) -> ArmOrder:
    """Return the assigned arms in order, with the control; `probabilities` lists the arms with a probability column.

    `categories` is None if the column has categories that could not be read.

    >>> ordered_arms(["10", "9"], control=10).names, ordered_arms(["low", "high"], arms=["low", "high"]).names
    (('9', '10'), ('low', 'high'))
    """
    if arms is not None:
        names, order_by = arm_names(arms), " as given"
        strangers = [one for one in names if one not in assigned]
        lacking = [one for one in assigned if one not in names]
        if strangers:
            raise InputError("arms", strangers[0], f"an arm that was assigned: {listed(assigned)}")
        if lacking:
            raise InputError("arms", listed(names), f"all arms that were assigned ({listed(lacking)} too)")
    elif categories and assigned and {folded(one) for one in assigned} <= {folded(one) for one in categories}:
        names, order_by = _by_category(assigned, categories), " in order of their categories"
    elif probabilities:
        names, order_by = list(probabilities), " in order of the columns of their probabilities"
    else:
        unread = " (to read that of their categories, install pyarrow)" if categories is None else ""
        names, order_by = sorted_names(assigned), f" in order of their names{unread}"
    number, control_by = _control(names, control)
    return ArmOrder(tuple(names), number, order_by, control_by)


def _by_category(assigned: Sequence[str], categories: Sequence[str]) -> list[str]:
    """Return the arms in order of their categories. An arm spelled in several ways has the position of the first
    one.
    """
    places = [folded(one) for one in categories]

    def place(arm: str) -> tuple[int, int]:
        return places.index(folded(arm)), categories.index(arm) if arm in categories else -1

    return sorted(assigned, key=place)


def arm_names(given: Sequence[object]) -> list[str]:
    """Return the names in `arms=`: a list, or for `--arms` one text with commas between the names.

    A name with a comma must be in quotation marks, as in a CSV file.

    >>> arm_names('placebo, "gum, mint"'), arm_names([0, 1.0])
    (['placebo', 'gum, mint'], ['0', '1'])
    """
    if not isinstance(given, Iterable):
        raise InputError("arms", given, _A_LIST)
    try:
        every = next(csv.reader([given], skipinitialspace=True, strict=True)) if isinstance(given, str) else given
    except (csv.Error, StopIteration):
        raise InputError("arms", given, f"{_A_LIST}, those with a comma in quotation marks") from None
    names = [arm_text(one) for one in every]
    twice = next((one for place, one in enumerate(names) if one in names[:place]), None)
    if twice is not None:
        raise InputError("arms", twice, "each arm once", f"arms: {twice!r} is listed twice")
    if not names or not all(names):
        raise InputError("arms", given, _A_LIST)
    return names


def control_of(arms: Sequence[str], control: str | float | None = None) -> int:
    """Return the index of the control: the arm with the given name, or with a usual name for a control, or the first.

    >>> control_of(("aspirin", "Placebo")), control_of(("aspirin", "Placebo"), "aspirin")
    (1, 0)
    """
    return _control(arms, control)[0]


def _control(arms: Sequence[str], control: str | float | None) -> tuple[int, str]:
    small = [folded(arm) for arm in arms]
    if control is None:
        usual = next((small.index(name) for name in USUAL if name in small), None)
        return (0, "the first arm; control= or --control names another") if usual is None else (usual, _BY_NAME)
    if not isinstance(control, (str, int, float)):
        raise InputError("control", control, "the name of an arm")
    name = control if isinstance(control, str) and control in arms else arm_text(control)
    if name in arms:
        return arms.index(name), "as given"
    if small.count(folded(name)) != 1:
        raise InputError("control", control, nearest(name, arms))
    return small.index(folded(name)), "as given"


_BY_NAME: Final = "a usual name for it"


def folded(name: str) -> str:
    """Return a label in lower case, with single blanks. Labels that are then equal mean the same arm.

    >>> folded("  Usual   Care")
    'usual care'
    """
    return " ".join(name.split()).lower()


def sorted_names(names: Iterable[str]) -> list[str]:
    """Return names in order, ignoring case, with numbers by size before other names.

    >>> sorted_names(["b", "10", "9", "B", "C", "a"])
    ['9', '10', 'a', 'B', 'b', 'C']
    """

    def key(name: str) -> tuple[bool, float, str, str]:
        try:
            return False, float(name), "", name
        except ValueError:
            return True, 0.0, name.casefold(), name

    return sorted(names, key=key)


@dataclass(frozen=True)
class Labels:
    """The index of each row's label (-1 if missing), the labels, and notes on labels with several spellings."""

    numbers: NDArray[np.int64]
    names: list[str]
    notes: tuple[str, ...]


def read_labels(cells: Cells, listed_names: Collection[str], arms: Collection[str]) -> Labels:
    """Return the labels of a column, where labels that differ only in case or blanks are one label.

    Each label is spelled like the arm in `arms`, or otherwise as in most rows. Labels in `listed_names` are names
    even if they usually mean "missing". Labels in `arms` or `listed_names` that differ only in case are different
    arms.
    """
    import numpy as np

    numbers, names = cells.arms(listed_names)
    rows = np.bincount(numbers[numbers >= 0], minlength=len(names)).tolist()
    spellings = cells.spellings()
    known = {*arms, *listed_names}
    spelled: dict[str, list[str]] = {}
    for name in [*sorted(known), *sorted(names, key=lambda one: (-rows[names.index(one)], one))]:
        found = spelled.setdefault(folded(name), [])
        if name in known or not found:
            found.append(name)
    kept, places, notes = [], [], []
    for name in names:
        own = name if name in known else spelled[folded(name)][0]
        found_as = {text: n for text, n in spellings.items() if text.strip() == name}
        for text, n in (found_as if len(found_as) > 1 else {name: rows[names.index(name)]}).items():
            if text != own:
                many = f"{n:,} row{'' if n == 1 else 's'} of column {cells.title}"
                notes.append(f"{text!r} ({many}) is read as {own!r}")
        if own not in kept:
            kept.append(own)
        places.append(kept.index(own))
    return Labels(np.array([*places, -1], dtype=np.int64)[numbers], kept, tuple(notes))
