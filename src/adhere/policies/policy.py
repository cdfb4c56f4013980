"""What every policy is: an immutable value with a text form, a JSON form and a compiled form."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Memo, State, implementation, implements, laid_out, layout_of, note_sources
from adhere.errors import InputError
from adhere.policies import generic
from adhere.policies.parameters import flag, parameter
from adhere.policies.registry import registry
from adhere.protocols import CHOSEN, Protocol, as_protocol, feedback_table

Floats = NDArray[np.float64]
PolicyClass = TypeVar("PolicyClass", bound="type[Policy]")
_NAME = re.compile(r"[a-z_][a-z0-9_]*(?:-[a-z0-9_]+)*")
MAX_DEPTH = 8  # policies inside each other
_RESERVED = ("true", "false", "inf", "nan", "credit")


@dataclass(frozen=True)
class TrialShape:
    """What a policy must know of a trial before it starts."""

    n_arms: int
    reward_values: tuple[float, ...] = (0.0, 1.0)


class CompiledPolicy(NamedTuple):
    """A policy ready to run: its rule, and the names of the parts that may make a decision."""

    rule: Any
    deciders: tuple[str, ...]

    @property
    def state(self) -> Floats:
        """The state before the first patient."""
        return layout_of("State", self.rule).initial(self.rule)

    @property
    def memo_size(self) -> int:
        """How many floats a decision must remember until its feedback."""
        return int(layout_of("Memo", self.rule).size(self.rule, with_scratch=False))

    @property
    def scratch_size(self) -> int:
        """How many more floats, behind the memo, compiled code works in."""
        return int(layout_of("Memo", self.rule).size(self.rule)) - self.memo_size


@dataclass(frozen=True)
class Policy:
    """Base of learners and hybrids. Subclasses are declared with `@policy(name)`."""

    name: ClassVar[str]
    rule_class: ClassVar[Any]
    algorithm_version: ClassVar[int] = 1  # to be raised when the same random key no longer gives the same arm

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

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
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

    A subclass declares its numbers with `parameter`, what it learns as a `State`, what a decision must remember as a
    `Memo`, and implements `choose` and `learn`; `remember` and `probabilities` if it needs or knows them. Its
    compiled functions see a rule with the declared numbers (NaN for None), `n_arms` and the table `credit`.
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

    def learners(self) -> tuple[Learner, ...]:
        """A learner is its own only one."""
        return (self,)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """A rule of the declared numbers, `n_arms` and the feedback table of the protocol."""
        _complete(type(self))
        numbers = {
            item.name: math.nan if getattr(self, item.name) is None else getattr(self, item.name)
            for item in dataclasses.fields(self)
            if item.name != "protocol"
        }
        credit = feedback_table(self.protocol, shape.n_arms)
        rule = self.rule_class(**numbers, n_arms=shape.n_arms, credit=credit)
        return CompiledPolicy(rule, (str(self),))

    def assemble_weighted(self, shape: TrialShape) -> CompiledPolicy:
        """The compiled form as a certified expert, which is asked with a probability below 1."""
        return self.assemble(shape)


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
    if implementation(generic.probabilities, learner.rule_class) is None:
        implements(generic.probabilities, learner)(generic.estimate_probabilities)
        _without_probabilities.add(learner)
    _completed.add(learner)


@dataclass_transform(frozen_default=True, field_specifiers=(parameter, flag, field))
def policy(
    name: str, *, state: type[State] = State, memo: type[Memo] = Memo, rule: Any = None
) -> Callable[[PolicyClass], PolicyClass]:
    """Declare a class as the policy of this name: freeze it, give it a rule, enter it into the registry.

    Parameters
    ----------
    name
        Small letters, digits and single hyphens.
    state, memo
        The layouts of what it learns and of what a decision must remember.
    rule
        The compiled form of a hybrid, a NamedTuple. That of a learner is made of its parameters.

    """
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InputError("policy name", name, "small letters, digits and single hyphens, e.g. my-policy")

    def declare(cls: PolicyClass) -> PolicyClass:
        if name in registry and registry[name].__module__ != cls.__module__:
            owner = registry[name].__module__
            if owner.startswith("adhere."):
                raise InputError("policy name", name, f"a name of its own; {owner} declares it already")
        cls.name = name
        frozen: Any = dataclass(frozen=True)(cls)
        frozen.rule_class = laid_out(state=state, memo=memo)(rule or _rule_of_learner(frozen))
        registry[name] = frozen
        note_sources(cls.__module__)
        return frozen  # type: ignore[no-any-return]

    return declare


def _rule_of_learner(learner: Any) -> Any:
    numbers = [item.name for item in dataclasses.fields(learner) if item.name != "protocol"]
    rule: Any = namedtuple(f"{learner.__name__}Rule", [*numbers, "n_arms", "credit"])  # type: ignore[misc]
    rule.__module__ = learner.__module__
    # Numba's disk cache pickles the rule's class by reference, so its module must hold it.
    setattr(sys.modules[learner.__module__], rule.__name__, rule)
    return rule


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
