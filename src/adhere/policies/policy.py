"""What every policy is: an immutable value with a text form, a JSON form and a compiled form."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import implementation, implements, note_sources
from adhere.errors import InputError
from adhere.policies import generic
from adhere.policies.protocols import CHOSEN, Protocol, as_protocol, feedback_table

Floats = NDArray[np.float64]
PolicyClass = TypeVar("PolicyClass", bound="type[Policy]")
registry: dict[str, type[Policy]] = {}
_NAME = re.compile(r"[a-z_][a-z0-9_]*(?:-[a-z0-9_]+)*")
DEEPEST = 8  # policies inside each other
_RESERVED = ("true", "false", "inf", "nan", "credit")


@dataclass(frozen=True)
class Setting:
    """What a policy must know of a trial before it starts."""

    n_arms: int
    reward_values: tuple[float, ...] = (0.0, 1.0)


class Assembled(NamedTuple):
    """A policy ready to run: its rule, its first state, the length of a memo, and who may decide.

    Compiled code is handed a memo with `spare_size` more places at its end, to work in.
    """

    rule: Any
    state: Floats
    memo_size: int
    spare_size: int
    deciders: tuple[str, ...]


def parameter(
    *,
    default: float | None,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> Any:
    """A number of a policy and the range it must lie in; None means that the policy sets it."""
    lowest = f"above {above:g}" if above > -math.inf else f"at least {at_least:g}" if at_least > -math.inf else ""
    highest = f"at most {at_most:g}" if at_most < math.inf else ""
    expected = " ".join(["a number", *" and ".join(part for part in (lowest, highest) if part).split()])

    def check(name: str, value: object) -> float | None:
        if value is None and default is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise InputError(name, value, expected)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not (math.isfinite(number) and above < number and at_least <= number <= at_most):
            raise InputError(name, value, expected)
        return number

    return field(default=default, metadata={"check": check})


def flag(*, default: bool) -> Any:
    """An option of a policy that is on or off."""

    def check(name: str, value: object) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(name, value, "true or false")
        return bool(value)

    return field(default=default, metadata={"check": check})


@dataclass(frozen=True)
class Policy:
    """Base of learners and hybrids. Subclasses are declared with `@policy(name)`."""

    name: ClassVar[str]
    rule_class: ClassVar[Any]
    law: ClassVar[int] = 1  # to be raised when the same random key no longer gives the same arm

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            check = item.metadata.get("check")
            if check is not None:
                value = check(f"{self.name} {item.name}", getattr(self, item.name))
                object.__setattr__(self, item.name, value)

    def __str__(self) -> str:
        return self._text()

    def _text(self) -> str:
        """The canonical text form: what differs from the defaults, in the order of the fields."""
        parts = []
        for item in self._changed():
            value = text_of(getattr(self, item.name))
            parts.append(value if item.metadata.get("bare") else f"{item.name}={value}")
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    def to_json(self) -> dict[str, Any]:
        """A dictionary that `policies.from_json` turns back into an equal policy."""
        return {
            "name": self.name,
            **{item.name: json_of(getattr(self, item.name)) for item in self._changed()},
        }

    def _changed(self) -> list[dataclasses.Field[Any]]:
        return [item for item in dataclasses.fields(self) if getattr(self, item.name) != item.default]

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """The same policy with every open number settled for a trial of this size."""
        return self

    def assemble(self, setting: Setting, certified: bool = True) -> Assembled:
        """The compiled form. Parts of an uncertified hybrid all learn from every round, with weight 1."""
        raise TypeError(f"{self.name} has no compiled form")

    @property
    def depth(self) -> int:
        """How many policies are inside each other, this one included."""
        return 1

    def learners(self) -> tuple[Learner, ...]:
        """Every learner in the policy."""
        raise TypeError(f"{self.name} has no learners")

    def parts(self) -> Iterator[Policy]:
        """The policy itself and every one inside it."""
        yield self
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Policy):
                    yield from part.parts()

    @property
    def estimates_probabilities(self) -> bool:
        """Whether some learner does not say its probabilities, so that they must be estimated by drawing."""
        return any(type(learner) in _without_probabilities for learner in self.learners())


@dataclass(frozen=True)
class Learner(Policy):
    """A base bandit under one protocol.

    A subclass declares its numbers with `parameter`, its first state with `initial_state`, and implements
    `choose` and `learn`; `remember` and `probabilities` if it needs or knows them. Its compiled functions see
    a rule with the declared numbers (NaN for None), `n_arms` and the table `credit`.
    """

    uses_weight: ClassVar[bool] = False  # whether importance weights matter to it as a certified expert
    protocol: Protocol = field(default=CHOSEN, kw_only=True, metadata={"check": lambda _, value: as_protocol(value)})

    def _text(self) -> str:
        if self.protocol == CHOSEN:
            return super()._text()
        return f"{dataclasses.replace(self, protocol=CHOSEN)}/{self.protocol}"

    def under(self, protocol: Protocol) -> Self:
        """The same learner under another protocol."""
        return dataclasses.replace(self, protocol=protocol)

    def initial_state(self, n_arms: int) -> Floats:
        """The state before the first patient."""
        return np.zeros(0)

    def memo_size(self, n_arms: int) -> int:
        """How many numbers a decision must remember until its feedback."""
        return 0

    def learners(self) -> tuple[Learner, ...]:
        """A learner is its own only one."""
        return (self,)

    def assemble(self, setting: Setting, certified: bool = True) -> Assembled:
        """A rule of the declared numbers, `n_arms` and the feedback table of the protocol."""
        _complete(type(self))
        numbers = {
            item.name: math.nan if getattr(self, item.name) is None else getattr(self, item.name)
            for item in dataclasses.fields(self)
            if item.name != "protocol"
        }
        credit = feedback_table(self.protocol, setting.n_arms)
        rule = self.rule_class(**numbers, n_arms=setting.n_arms, credit=credit)
        state = np.ascontiguousarray(self.initial_state(setting.n_arms), dtype=np.float64)
        return Assembled(rule, state, self.memo_size(setting.n_arms), 0, (str(self),))

    def assemble_weighted(self, setting: Setting) -> Assembled:
        """The compiled form as a certified expert, which is asked with a probability below 1."""
        return self.assemble(setting)


_without_probabilities: set[type[Learner]] = set()
_completed: set[type[Learner]] = set()


def _complete(learner: type[Learner]) -> None:
    """Give a learner the default of whatever it leaves out, once all of its file has been read."""
    if learner in _completed:
        return
    for function in (generic.choose, generic.learn):
        if implementation(function, learner.rule_class) is None:
            expected = f"a function decorated with @implements({function.__name__}, {learner.__name__})"
            raise InputError(f"policy {learner.name}", f"no {function.__name__}", expected)
    implements(generic.update, learner)(generic.update_learner)
    implements(generic.decider, learner)(generic.only_decider)
    implements(generic.repeat, learner)(generic.repeat_nothing)
    if implementation(generic.remember, learner.rule_class) is None:
        implements(generic.remember, learner)(generic.remember_nothing)
    if implementation(generic.probabilities, learner.rule_class) is None:
        implements(generic.probabilities, learner)(generic.estimate_probabilities)
        _without_probabilities.add(learner)
    _completed.add(learner)


@dataclass_transform(frozen_default=True, field_specifiers=(parameter, flag, field))
def policy(name: str) -> Callable[[PolicyClass], PolicyClass]:
    """Declare a class as the policy of this name: freeze it, give it a rule, enter it into the registry."""
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InputError("policy name", name, "small letters, digits and single hyphens, e.g. my-policy")

    def declare(cls: PolicyClass) -> PolicyClass:
        if name in registry and registry[name].__module__ != cls.__module__:
            owner = registry[name].__module__
            if owner.startswith("adhere."):
                raise InputError("policy name", name, f"a name of its own; {owner} declares it already")
        cls.name = name
        frozen: Any = dataclass(frozen=True)(cls)
        if issubclass(frozen, Learner):
            numbers = [item.name for item in dataclasses.fields(frozen) if item.name != "protocol"]
            rule = namedtuple(f"{cls.__name__}Rule", [*numbers, "n_arms", "credit"])  # type: ignore[misc]
            rule.__module__ = cls.__module__
            # Numba's disk cache pickles the rule's class by reference, so its module must hold it.
            setattr(sys.modules[cls.__module__], rule.__name__, rule)
            frozen.rule_class = rule
        registry[name] = frozen
        note_sources(cls.__module__)
        return frozen  # type: ignore[no-any-return]

    return declare


def text_of(value: object) -> str:
    """A field's value as the grammar writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, tuple):
        return f"[{', '.join(text_of(item) for item in value)}]"
    return str(value)


def json_of(value: object) -> Any:
    """A field's value as JSON writes it."""
    if isinstance(value, Policy):
        return value.to_json()
    if isinstance(value, Protocol):
        return value.name if value.table is None else [list(row) for row in value.table]
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    return value


def make(name: str, arguments: list[object], options: Mapping[str, object]) -> Policy:
    """A policy from its name and the values of its fields, with an error that names what does not fit."""
    from adhere.policies.catalogue import lookup

    cls = lookup(name)
    fields = [item.name for item in dataclasses.fields(cls) if item.name != "protocol"]
    if len(arguments) > len(fields):
        raise InputError(f"policy {name}", arguments[len(fields)], f"at most {len(fields)} arguments")
    values = dict(zip(fields, arguments, strict=False))
    allowed = [*fields, "protocol"] if issubclass(cls, Learner) else fields
    for key, value in options.items():
        if key not in allowed:
            listed = f"one of {', '.join(allowed)}" if allowed else "no option"
            raise InputError(f"policy {name}", f"{key}=…", listed)
        if key in values:
            raise InputError(f"policy {name}", f"{key} twice", "each option once")
        values[key] = value
    return cls(**values)
