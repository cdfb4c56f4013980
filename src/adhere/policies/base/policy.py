"""Base classes of policies: immutable values with a text form, a JSON form and a compiled form."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from adhere.compilation import implementation, layout_of, settle
from adhere.compilation.layout import Floats, with_lengths
from adhere.compilation.user_code import check_arguments, refusal
from adhere.errors import InputError, listed, nearest, short
from adhere.policies.base import generic
from adhere.policies.numerics.beta import work_size
from adhere.protocols import Protocol

MAX_DEPTH = 8  # policies inside each other
# Words that the grammar accepts without quotation marks.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*", re.ASCII)


@dataclass(frozen=True)
class TrialShape:
    """Properties of a trial that a policy must know before the trial starts."""

    n_arms: int
    reward_values: tuple[float, ...] = (0.0, 1.0)
    arms: tuple[str, ...] = ()  # names of the arms, if they have names

    @classmethod
    def of(cls, arms: int | Sequence[str], reward_values: Sequence[float] = (0.0, 1.0)) -> TrialShape:
        """Return the shape of a trial with this number of arms, or with arms of these names."""
        values = tuple(sorted({float(value) for value in reward_values}))
        return cls(arms, values) if isinstance(arms, int) else cls(len(arms), values, tuple(arms))

    def index_of(self, field: str, arm: str | int) -> int:
        """Return the index of an arm that is given by its name or by a whole number.

        Text is always a name. A number is a name if the name of any arm is a number; otherwise it is an index from 0.

        >>> TrialShape(2, arms=("placebo", "patch")).index_of("always arm", "Patch")
        1
        """
        name = str(arm)
        if name in self.arms:
            return self.arms.index(name)
        alike = [index for index, other in enumerate(self.arms) if _folded(other) == _folded(name)]
        if len(alike) == 1:
            return alike[0]
        has_numbers = any(map(_is_number, self.arms))
        if isinstance(arm, int) and not has_numbers and arm < self.n_arms:
            return arm
        numbers = f"a number from 0 to {self.n_arms - 1}"
        if not self.arms:
            raise InputError(field, arm, f"{numbers}, since the arms have no names here")
        # A dose that resembles another dose is not a misspelling.
        expected = f"one of {listed(self.arms)}" if _is_number(name) else nearest(name, self.arms)
        if not has_numbers:
            expected += f", or {numbers}" + (", not quoted" if arm == name and name.isdecimal() else "")
        elif isinstance(arm, int):
            expected += " (a number is a name here)"
        raise InputError(field, arm, expected, f"{field}: {short(arm)} is not an arm; expected {expected}")


def _folded(name: str) -> str:
    """Return a name in lower case, with single spaces between words."""
    return " ".join(name.split()).casefold()


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


class CompiledPolicy(NamedTuple):
    """A policy ready to run: its rule, and the names of the components that may make a decision."""

    rule: Any
    components: tuple[str, ...]

    @property
    def state(self) -> Floats:
        """Return the state before the first patient."""
        return layout_of("State", self.rule).initial(self.rule)

    @property
    def memo_size(self) -> int:
        """Number of floats that a decision must remember until its feedback."""
        return int(layout_of("Memo", self.rule).size(self.rule, with_scratch=False))

    @property
    def scratch_size(self) -> int:
        """Number of further floats, behind the memo, that compiled code uses as workspace."""
        return int(layout_of("Memo", self.rule).size(self.rule)) - self.memo_size


@dataclass(frozen=True)
class Policy:
    """Base class of all policies: learners, hybrids and guards.

    Derive a policy of your own from `Learner` or `ComplianceAwareLearner`, and declare it with ``@policy(name)``. A
    policy is an immutable value. ``str(policy)`` is its text form.

    See Also
    --------
    Learner : The base class of bandits that learn from one credited arm.
    parse_policy : Make a policy from its text.

    Examples
    --------
    >>> from adhere import Policy, parse_policy
    >>> policy = parse_policy("floor(thompson, share=0.2)")
    >>> isinstance(policy, Policy), str(policy)
    (True, 'floor(thompson, share=0.2)')
    >>> policy.to_json()["share"]
    0.2

    """

    name: ClassVar[str]
    kind: ClassVar[str] = "hybrid"  # in words
    rule_class: ClassVar[Any]
    algorithm_version: ClassVar[int] = 1  # to be raised when the same random key no longer gives the same arm
    functions: ClassVar[tuple[Any, ...]] = (  # the functions that are called for a policy, if it implements them
        *(generic.choose, generic.update, generic.remember),
        *(generic.probabilities, generic.replay_choice, generic.component, generic.remember_guarded),
        generic.note_allocation,
    )
    rule_fields: ClassVar[tuple[str, ...]] = ("n_arms",)  # fields of the rule, after the policy's own numbers

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            check = item.metadata.get("check")
            if check is not None:
                value = check(f"{self.name} {item.name}", getattr(self, item.name))
                object.__setattr__(self, item.name, value)

    def __str__(self) -> str:
        """Return the canonical text form: the name, then the values that differ from their defaults."""
        changed = [item for item in self._changed() if item.name != "protocol"]
        keys = ("" if item.metadata.get("bare") else f"{item.name}=" for item in changed)
        parts = [key + text_of(getattr(self, item.name)) for key, item in zip(keys, changed, strict=True)]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary that `policies.from_json` turns back into an equal policy."""
        return {"name": self.name} | {item.name: json_of(getattr(self, item.name)) for item in self._changed()}

    def _changed(self) -> list[dataclasses.Field[Any]]:
        return [item for item in dataclasses.fields(self) if getattr(self, item.name) != item.default]

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Return the same policy, in which each number that was left open has its value for a trial of this size."""
        settled: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value, from_horizon = getattr(self, item.name), item.metadata.get("from_horizon")
            if isinstance(value, Policy):
                settled[item.name] = value.resolved(n_arms, horizon)
            elif isinstance(value, tuple):
                settled[item.name] = tuple(part.resolved(n_arms, horizon) for part in value)
            elif value is None and from_horizon and horizon is None:
                what = item.metadata["symbol"] or f"{self.name}'s {item.name}"
                sentence = f"this policy needs n_patients=… (the number of patients), to set {what}"
                raise InputError("n_patients", None, "the number of patients", sentence)
            elif value is None and from_horizon:
                settled[item.name] = from_horizon(n_arms, horizon)
        return dataclasses.replace(self, **settled)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the compiled form. In an uncertified hybrid all components learn from every round, with weight 1."""
        raise TypeError(f"{self.name} has no compiled form")

    @classmethod
    def check_implementation(cls, generic: Any, function: Any) -> None:
        """Refuse an implementation that would never be called, or would be called with other arguments."""
        what = f"{generic.__name__} of {cls.__name__}"
        if generic not in cls.functions:
            raise refusal(function, what, f"one of {', '.join(own.__name__ for own in cls.functions)}{cls.instead()}")
        check_arguments(function, generic, what, *cls.arguments_of(generic))

    @classmethod
    def instead(cls) -> str:
        """Return a hint for an implementation that would never be called."""
        return ""

    @classmethod
    def arguments_of(cls, generic: Any) -> tuple[Sequence[str] | None, str]:
        """Return the arguments' names (None: those of the generic function), and a hint for error messages."""
        return None, ""

    @classmethod
    def declared(cls) -> None:
        """Finish the declaration of a class that has a rule. Kinds of policies may register shared functions here."""

    @property
    def depth(self) -> int:
        """Number of policies nested inside each other, including this one."""
        return 1 + max((part.depth for part in self._inside()), default=0)

    def learners(self) -> tuple[AnyLearner, ...]:
        """Return every learner in the policy."""
        raise TypeError(f"{self.name} has no learners")

    def parts(self) -> Iterator[Policy]:
        """Yield the policy itself and every policy inside it."""
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
        """Whether some learner does not implement its probabilities, so that they must be estimated by drawing."""
        used = (implementation(generic.probabilities, learner.rule_class) for learner in self.learners())
        return generic.estimate_probabilities in used


@dataclass(frozen=True)
class AnyLearner(Policy):
    """Base of both kinds of learners."""

    functions: ClassVar[tuple[Any, ...]] = (
        *(generic.choose, generic.learn, generic.remember, generic.probabilities),
        generic.remember_guarded,
    )
    uses_weight: ClassVar[bool] = False  # whether importance weights matter when it is a certified expert
    # Whether its probability of choosing an arm is its posterior probability that the arm is best.
    matches_probability: ClassVar[bool] = False

    def learners(self) -> tuple[AnyLearner, ...]:
        """Return a tuple that contains only this learner."""
        return (self,)

    def is_certified(self, n_arms: int) -> bool:
        """Return whether this learner, if it is an expert, learns only from rounds that it was drawn for."""
        return False

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the compiled form: a rule with the declared numbers, `n_arms` and the learner's tables."""
        for function in (generic.choose, generic.learn):
            if implementation(function, self.rule_class) is None:
                expected = f"a function decorated with @implements({function.__name__}, {type(self).__name__})"
                raise InputError(f"policy {self.name}", f"no {function.__name__}", expected)
        settle(self.rule_class)
        known = (self._in_rule(name, shape) for name in numbers_of(type(self)))
        rule = self.rule_class(*known, shape.n_arms, *self._tables(shape))
        return CompiledPolicy(with_lengths(rule), (str(self),))

    def _in_rule(self, name: str, shape: TrialShape) -> float:
        """Return a declared number as the rule stores it: NaN for None, the index for an arm."""
        value = getattr(self, name)
        if self.__dataclass_fields__[name].metadata.get("is_arm"):
            value = shape.index_of(f"{self.name} {name}", value)
        if value is None:
            return math.nan
        # A whole number is stored as a float: learners that differ only in its value share their code.
        return value if isinstance(value, bool) else float(value)

    def _tables(self, shape: TrialShape) -> tuple[Any, ...]:
        return ()

    def assemble_weighted(self, shape: TrialShape) -> CompiledPolicy:
        """Return the compiled form for a certified expert, which is drawn with a probability below 1."""
        return self.assemble(shape)


def probabilities_size(n_arms: int) -> int:
    """Return the number of floats that `probabilities` may use; each nested policy takes up to two consecutive
    slices.
    """
    return 2 * (MAX_DEPTH + 1) * n_arms + work_size(n_arms)


def parameters_of(policy: Any) -> list[str]:
    """Return the names of a policy's fields, in order, without its protocol."""
    return [item.name for item in dataclasses.fields(policy) if item.name != "protocol"]


def numbers_of(policy: Any) -> list[str]:
    """Return the names of the fields that a learner's rule contains: all except options that are words."""
    words = {item.name for item in dataclasses.fields(policy) if "options" in item.metadata}
    return [name for name in parameters_of(policy) if name not in words]


def text_of(value: object) -> str:
    """Return a field's value as the grammar writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, tuple):
        return f"[{', '.join(text_of(item) for item in value)}]"
    if isinstance(value, str) and not _BARE.fullmatch(value):
        return f"'{value}'" if '"' in value else f'"{value}"'
    return str(value)


def json_of(value: object) -> Any:
    """Return a field's value as JSON writes it."""
    if isinstance(value, Policy):
        return value.to_json()
    if isinstance(value, Protocol):
        return value.name if value.table is None else [list(row) for row in value.table]
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    return "inf" if value == math.inf else value  # JSON has no infinite numbers
