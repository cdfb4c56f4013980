"""Layouts: names for the elements of flat arrays of floats, which store a policy's state and memo.

A layout is declared once, field by field, and is read and written by attribute:

>>> from typing import NamedTuple
>>> class Means(State):
...     pulls = PerArm()
...     means = PerArm(0.5)
...     total = Number()
>>> rule = NamedTuple("Rule", [("n_arms", int)])(n_arms=2)
>>> state = Means(rule, Means.initial(rule))
>>> state.pulls[1] += 1.0
>>> state.total = 3.0
>>> state.floats.tolist()
[0.0, 1.0, 0.5, 0.5, 3.0]

The rule (a policy's compiled form) determines the length of each field. Compiled code evaluates the same definitions
on the rule's type (`layout_lowering`). With a static number of arms, every offset is therefore a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from adhere.checks import is_integer, is_number
from adhere.compilation.user_code import Place, is_foreign, sentence_of, traceback_place
from adhere.errors import InputError, SourceError

Floats = NDArray[np.float64]
FromRule = Callable[[Any], Any]
RuleClass = TypeVar("RuleClass", bound=type[Any])
MAX_LENGTH = 10**7
LENGTH = f"a whole number, at least 0 and at most {MAX_LENGTH:,}"


class Layout:
    """A flat array of floats with named elements."""

    kind: ClassVar[str]
    fields: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls) -> None:
        cls.fields = {**cls.fields, **{name: own for name, own in vars(cls).items() if isinstance(own, Field)}}

    def __init__(self, rule: Any, floats: Floats) -> None:
        self.rule, self.floats = rule, floats

    if TYPE_CHECKING:  # fields are declared by subclasses

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    @classmethod
    def size(cls, rule: Any, with_scratch: bool = True) -> Any:
        """Return the number of elements; without scratch, only those that outlive a decision."""
        kept = [field for field in cls.fields.values() if with_scratch or not field.scratch]
        return sum(field.size(rule, with_scratch) for field in kept)

    @classmethod
    def offset(cls, rule: Any, name: str) -> Any:
        """Return the index of a field's first element."""
        names = list(cls.fields)
        return sum(cls.fields[before].size(rule) for before in names[: names.index(name)])

    @classmethod
    def initial(cls, rule: Any) -> Floats:
        """Return the content of the array before the first patient."""
        return np.concatenate([np.zeros(0), *(field.initial(rule) for field in cls.fields.values())])


class Field:
    """Consecutive elements of a layout; in Python a descriptor. A `scratch` field is not kept after a call."""

    scratch = False
    name = ""
    kind = ""  # of the layout that it is declared in
    first_value: float | FromRule = 0.0

    def __set_name__(self, owner: type[Layout], name: str) -> None:
        self.kind, self.name = owner.kind, name

    def shape(self, rule: Any) -> tuple[Any, ...]:
        """Return the lengths of the field's dimensions; one float has none."""
        return ()

    def size(self, rule: Any, with_scratch: bool = True) -> Any:
        """Return the number of elements."""
        return math.prod(self.shape(rule))

    def initial(self, rule: Any) -> Floats:
        """Return the initial values."""
        return np.full(self.size(rule), self.first_value(rule) if callable(self.first_value) else self.first_value)

    def read(self, rule: Any, floats: Floats) -> Any:
        """Return the attribute's value, a float or an array, from the field's elements."""
        return floats.reshape(self.shape(rule))[()]

    def __get__(self, view: Layout | None, owner: type[Layout]) -> Any:
        if view is None:
            return self
        start = owner.offset(view.rule, self.name)
        return self.read(view.rule, view.floats[start : start + self.size(view.rule)])

    def __set__(self, view: Layout, value: float) -> None:
        view.floats[type(view).offset(view.rule, self.name)] = value


class Number(Field):
    """One float. Its initial value is given, or computed from the rule."""

    def __init__(self, initial: float | FromRule = 0.0) -> None:
        self.first_value = initial


class Index(Number):
    """One whole number, stored as a float."""

    def read(self, rule: Any, floats: Floats) -> Any:
        """Return the whole number."""
        return int(floats[0])


class Vector(Number):
    """A vector of floats; its length is a whole number or a function of the rule.

    Compiled code evaluates a length function on the type of a rule, where a number may be known only at run time. A
    user's function may do more than arithmetic with it, so its result is stored in the rule (see `lengths`).
    """

    def __init__(self, length: int | FromRule, initial: float | FromRule = 0.0, *, scratch: bool = False) -> None:
        super().__init__(initial)
        if not callable(length) and not (is_integer(length) and 0 <= length <= MAX_LENGTH):
            raise InputError("the length of a field", length, f"{LENGTH}, or a function of the rule")
        self.length, self.scratch = length, scratch

    @property
    def name_in_rule(self) -> str:
        """Name of the rule's field that stores the length, if the rule has one."""
        return f"length_of_{self.kind.lower()}_{self.name}"

    def shape(self, rule: Any) -> tuple[Any, ...]:
        """Return the length, as a tuple."""
        if not callable(self.length):
            return (int(self.length),)
        known = getattr(rule, self.name_in_rule, None)
        return (self.length(rule) if known is None else known,)


class PerArm(Vector):
    """One float for each arm."""

    def __init__(self, initial: float | FromRule = 0.0) -> None:
        super().__init__(lambda rule: rule.n_arms, initial)


class Matrix(Field):
    """Rows of floats; `matrix[i]` is a row."""

    def __init__(self, rows: FromRule, columns: FromRule) -> None:
        self._rows, self._columns = rows, columns

    def shape(self, rule: Any) -> tuple[Any, ...]:
        """Return the numbers of rows and columns."""
        return self._rows(rule), self._columns(rule)


class PerPair(Matrix):
    """One float for each pair of an arm chosen and what was taken: `pairs[chosen, actual]`.

    Two more columns follow those of the arms. Since negative indices count from the end, the last column is that of
    `TOOK_NOTHING` (-1) and the one before it that of `TOOK_OTHER` (-2).
    """

    def __init__(self, initial: float = 0.0) -> None:
        super().__init__(lambda rule: rule.n_arms, lambda rule: rule.n_arms + 2)
        self.first_value = initial


class Parts(Field):
    """One slice for each of several rules inside the rule, all of the same length (see `strip`).

    By default the rules are those in the rule's field of the same name.
    """

    def __init__(self, rule: FromRule | None = None, *, scratch: bool = False) -> None:
        self._inner, self.scratch = rule, scratch

    def inner(self, rule: Any) -> Any:
        """Return the rules inside."""
        return self._inner(rule) if self._inner else getattr(rule, self.name)

    def stride(self, rule: Any) -> Any:
        """Return the length of a slice."""
        return reduce(_larger, [layout_of(self.kind, inner).size(inner) for inner in self.inner(rule)])

    def shape(self, rule: Any) -> tuple[Any, ...]:
        """Return the total length of all slices, as a tuple."""
        return (self.stride(rule) * len(self.inner(rule)),)

    def initial(self, rule: Any) -> Floats:
        """Return the initial values of the inner rules, each padded with zeros."""
        strips = [layout_of(self.kind, inner).initial(inner) for inner in self.inner(rule)]
        return np.concatenate([np.pad(strip, (0, self.stride(rule) - strip.size)) for strip in strips])


class Part(Parts):
    """State of an inner rule, as part of a state, or memo of an inner rule, as part of a memo."""

    def layout(self, rule: Any) -> type[Layout]:
        """Return the inner rule's own layout."""
        return layout_of(self.kind, self.inner(rule))

    def size(self, rule: Any, with_scratch: bool = True) -> Any:
        """Return the number of elements that the inner rule needs."""
        return self.layout(rule).size(self.inner(rule), with_scratch)

    def initial(self, rule: Any) -> Floats:
        """Return the initial values of the inner rule."""
        return self.layout(rule).initial(self.inner(rule))

    def read(self, rule: Any, floats: Floats) -> Any:
        """Return the elements as the inner rule's layout."""
        return self.layout(rule)(self.inner(rule), floats)


class State(Layout):
    """Base of layouts for what a policy has learned."""

    kind = "State"


class Memo(Layout):
    """Base of layouts for what a decision must remember until its feedback."""

    kind = "Memo"


def _larger(one: Any, other: Any) -> Any:
    if isinstance(one, int):
        return max(one, other) if isinstance(other, int) else other.max(one)
    return one.max(other)


def laid_out(*, state: type[State] = State, memo: type[Memo] = Memo) -> Callable[[RuleClass], RuleClass]:
    """Declare the layouts of a rule's state and memo; by default they are empty."""

    def declare(rule: RuleClass) -> RuleClass:
        rule.State, rule.Memo = state, memo
        return rule

    return declare


def layout_of(kind: str, rule: Any) -> type[Layout]:
    """Return the layout of a rule's state or memo."""
    return cast("type[Layout]", getattr(rule.instance_class if hasattr(rule, "instance_class") else type(rule), kind))


def fields_to_measure(*layouts: type[Layout]) -> Iterator[Vector]:
    """Yield the fields whose length is a user's function of the rule."""
    for layout in layouts:
        for field in layout.fields.values():
            if isinstance(field, Vector) and callable(field.length) and is_foreign(field.length):
                yield field


def with_lengths(rule: Any) -> Any:
    """Return a rule with the lengths of its fields; raise a `SourceError` if a length is not valid."""
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
