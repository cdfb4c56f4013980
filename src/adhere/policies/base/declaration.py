"""Decorator that declares a class as a policy."""

import re
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

from adhere.compilation import Memo, State, laid_out, note_sources
from adhere.compilation.layout import fields_to_measure
from adhere.errors import InputError
from adhere.policies.base.learner import ComplianceAwareLearner, Learner
from adhere.policies.base.parameters import arm_parameter, choice, flag, parameter
from adhere.policies.base.policy import AnyLearner, Policy, numbers_of
from adhere.policies.base.registry import registry

PolicyClass = TypeVar("PolicyClass", bound="type[Policy]")
_NAME = re.compile(r"[a-z_][a-z0-9_]*(?:-[a-z0-9_]+)*")
_RESERVED = ("true", "false", "inf", "nan", "credit")


@dataclass_transform(frozen_default=True, field_specifiers=(parameter, arm_parameter, flag, choice, field))
def policy(
    name: str, *, state: type[State] = State, memo: type[Memo] = Memo, rule: Any = None
) -> Callable[[PolicyClass], PolicyClass]:
    """Declare a class as the policy with this name: freeze it, give it a rule and add it to the registry.

    Parameters
    ----------
    name
        Name of the policy: lower-case letters, digits and single hyphens.
    state, memo
        Classes derived from `State` and `Memo`: what a learner learns, and what a decision must remember.
    rule
        Compiled form of a hybrid: a NamedTuple decorated with `laid_out`. A learner's rule follows from its fields.

    """
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InputError("policy name", name, "small letters, digits and single hyphens, e.g. my-policy")

    def declare(cls: PolicyClass) -> PolicyClass:
        _check(name, cls, state, memo, rule)
        owner = registry[name].__module__ if name in registry else cls.__module__
        if owner != cls.__module__ and owner.startswith("adhere."):
            raise InputError("policy name", name, f"a name of its own; {owner} declares it already")
        cls.name = name
        frozen: Any = dataclass(frozen=True)(cls)
        frozen.rule_class = rule or laid_out(state=state, memo=memo)(_rule_of(frozen, state, memo))
        frozen.declared()
        registry[name] = frozen
        note_sources(cls.__module__)
        return frozen  # type: ignore[no-any-return]

    return declare


def _check(name: str, cls: type, state: object, memo: object, rule: Any) -> None:
    """Refuse the declaration of a policy that could not run."""
    kinds = [kind for kind in (Learner, ComplianceAwareLearner) if issubclass(cls, kind)]
    if not issubclass(cls, Policy) or len(kinds) > 1 or (not kinds and rule is None):
        expected = "a class derived from Learner, ComplianceAwareLearner (one of them) or, with rule=, from Policy"
        raise InputError(f"policy {name}", f"class {cls.__name__}", expected)
    for option, value, base in (("state", state, State), ("memo", memo, Memo)):
        if not (isinstance(value, type) and issubclass(value, base)):
            raise InputError(f"policy {name} {option}", value, f"a class derived from {base.__name__}")
    if rule is not None:
        if kinds:
            raise InputError(f"policy {name} rule", rule, "none: only a hybrid brings a rule of its own")
        if not (hasattr(rule, "_fields") and hasattr(rule, "State") and hasattr(rule, "Memo")):
            raise InputError(f"policy {name} rule", rule, "a NamedTuple decorated with laid_out(state=…, memo=…)")
        if (state, memo) != (State, Memo):
            expected = "one of them: a rule has the layouts that it is laid_out with"
            raise InputError(f"policy {name} state and memo", "both beside rule", expected)


def _rule_of(learner: type[AnyLearner], state: type[State], memo: type[Memo]) -> Any:
    lengths = [field.name_in_rule for field in fields_to_measure(state, memo)]
    fields = [*numbers_of(learner), *learner.rule_fields, *lengths]
    rule: Any = namedtuple(f"{learner.__name__}Rule", fields, defaults=[0] * len(lengths))  # type: ignore[misc]
    rule.__module__ = learner.__module__
    # Numba's disk cache pickles the rule's class by reference, so the class must be an attribute of its module.
    setattr(sys.modules[learner.__module__], rule.__name__, rule)
    return rule
