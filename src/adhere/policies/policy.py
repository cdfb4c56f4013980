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

from adhere.compilation import Memo, State, implementation, laid_out, layout_of, note_sources
from adhere.compilation.layout import Floats
from adhere.errors import InputError
from adhere.policies import generic
from adhere.policies.parameters import flag, parameter
from adhere.policies.registry import registry
from adhere.protocols import CHOSEN, Protocol, as_protocol, feedback_table

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
        """The canonical text form: what differs from the defaults, in the order of the fields."""
        changed = [item for item in self._changed() if item.name != "protocol"]
        keys = ("" if item.metadata.get("bare") else f"{item.name}=" for item in changed)
        parts = [key + text_of(getattr(self, item.name)) for key, item in zip(keys, changed, strict=True)]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    def to_json(self) -> dict[str, Any]:
        """A dictionary that `policies.from_json` turns back into an equal policy."""
        return {"name": self.name} | {item.name: json_of(getattr(self, item.name)) for item in self._changed()}

    def _changed(self) -> list[dataclasses.Field[Any]]:
        return [item for item in dataclasses.fields(self) if getattr(self, item.name) != item.default]

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """The same policy with every open number settled for a trial of this size."""
        settled: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value, from_horizon = getattr(self, item.name), item.metadata.get("from_horizon")
            if isinstance(value, Policy):
                settled[item.name] = value.resolved(n_arms, horizon)
            elif isinstance(value, tuple):
                settled[item.name] = tuple(part.resolved(n_arms, horizon) for part in value)
            elif value is None and from_horizon and horizon is None:
                what = item.metadata["symbol"] or f"{self.name}'s {item.name}"
                sentence = f"this policy needs horizon=… (the number of patients), to set {what}"
                raise InputError("horizon", None, "the number of patients", sentence)
            elif value is None and from_horizon:
                settled[item.name] = from_horizon(n_arms, horizon)
        return dataclasses.replace(self, **settled)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """The compiled form. Parts of an uncertified hybrid all learn from every round, with weight 1."""
        raise TypeError(f"{self.name} has no compiled form")

    @property
    def depth(self) -> int:
        """How many policies are inside each other, this one included."""
        return 1 + max((part.depth for part in self._inside()), default=0)

    def learners(self) -> tuple[Learner, ...]:
        """Every learner in the policy."""
        raise TypeError(f"{self.name} has no learners")

    def parts(self) -> Iterator[Policy]:
        """The policy itself and every one inside it."""
        yield self
        for part in self._inside():
            yield from part.parts()

    def _inside(self) -> Iterator[Policy]:
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            values = value if isinstance(value, tuple) else (value,)
            yield from (part for part in values if isinstance(part, Policy))

    @property
    def estimates_probabilities(self) -> bool:
        """Whether some learner does not say its probabilities, so that they must be estimated by drawing."""
        used = (implementation(generic.probabilities, learner.rule_class) for learner in self.learners())
        return generic.estimate_probabilities in used


@dataclass(frozen=True)
class Learner(Policy):
    """A base bandit under one protocol.

    A subclass declares its numbers with `parameter`, what it learns as a `State`, what a decision must remember as a
    `Memo`, and implements `choose` and `learn`; `remember` and `probabilities` if it needs or knows them. Its
    compiled functions see a rule with the declared numbers (NaN for None), `n_arms` and the table `credit`.
    """

    uses_weight: ClassVar[bool] = False  # whether importance weights matter to it as a certified expert
    protocol: Protocol = field(default=CHOSEN, kw_only=True, metadata={"check": lambda _, value: as_protocol(value)})

    def __str__(self) -> str:
        return super().__str__() if self.protocol == CHOSEN else f"{super().__str__()}/{self.protocol}"

    def under(self, protocol: Protocol) -> Self:
        """The same learner under another protocol."""
        return dataclasses.replace(self, protocol=protocol)

    def learners(self) -> tuple[Learner, ...]:
        """A learner is its own only one."""
        return (self,)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """A rule of the declared numbers, `n_arms` and the feedback table of the protocol."""
        for function in (generic.choose, generic.learn):
            if implementation(function, self.rule_class) is None:
                expected = f"a function decorated with @implements({function.__name__}, {type(self).__name__})"
                raise InputError(f"policy {self.name}", f"no {function.__name__}", expected)
        numbers = (getattr(self, name) for name in parameters_of(type(self)))
        known = (math.nan if number is None else number for number in numbers)
        rule = self.rule_class(*known, n_arms=shape.n_arms, credit=feedback_table(self.protocol, shape.n_arms))
        return CompiledPolicy(rule, (str(self),))

    def assemble_weighted(self, shape: TrialShape) -> CompiledPolicy:
        """The compiled form as a certified expert, which is asked with a probability below 1."""
        return self.assemble(shape)


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
        The layouts of what a learner learns and of what a decision must remember.
    rule
        The compiled form of a hybrid, a NamedTuple `laid_out` by itself. That of a learner is made of its parameters.

    """
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InputError("policy name", name, "small letters, digits and single hyphens, e.g. my-policy")

    def declare(cls: PolicyClass) -> PolicyClass:
        owner = registry[name].__module__ if name in registry else cls.__module__
        if owner != cls.__module__ and owner.startswith("adhere."):
            raise InputError("policy name", name, f"a name of its own; {owner} declares it already")
        cls.name = name
        frozen: Any = dataclass(frozen=True)(cls)
        frozen.rule_class = rule or laid_out(state=state, memo=memo)(_rule_of_learner(frozen))
        registry[name] = frozen
        note_sources(cls.__module__)
        return frozen  # type: ignore[no-any-return]

    return declare


def parameters_of(policy: Any) -> list[str]:
    """The fields of a policy but its protocol, in order."""
    return [item.name for item in dataclasses.fields(policy) if item.name != "protocol"]


def _rule_of_learner(learner: Any) -> Any:
    fields = [*parameters_of(learner), "n_arms", "credit"]
    rule: Any = namedtuple(f"{learner.__name__}Rule", fields)  # type: ignore[misc]
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
