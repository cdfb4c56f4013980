"""Descriptions of policies: what they do, their parameters, and what they need from a trial."""

import dataclasses
import doctest
import inspect
import re
from typing import Any, NamedTuple

from adhere.compilation import implementation
from adhere.errors import InputError
from adhere.policies.base import generic
from adhere.policies.base.learner import Learner
from adhere.policies.base.policy import AnyLearner, Policy, text_of


class ParameterDescription(NamedTuple):
    """A parameter of a policy: its meaning, the values allowed, and its default as text (None if it is optional)."""

    name: str
    meaning: str
    expected: str
    default: str | None
    required: bool


class PolicyDescription(NamedTuple):
    """A policy in words.

    `states_probabilities` is None for a hybrid or guard, since it depends on the policies inside.
    """

    name: str
    kind: str
    summary: str
    example: str
    parameters: tuple[ParameterDescription, ...]
    takes_protocol: bool
    states_probabilities: bool | None
    needs_n_patients: bool


def describe(cls: type[Policy]) -> PolicyDescription:
    """Return the description of a policy.

    >>> from adhere.policies import Exp3
    >>> found = describe(Exp3)
    >>> found.kind, found.parameters[0].expected, found.needs_n_patients
    ('learner', 'a number above 0 and at most 1', True)
    """
    fields = [item for item in dataclasses.fields(cls) if item.name != "protocol"]
    meanings = _meanings(cls)
    stated = implementation(generic.probabilities, cls.rule_class) not in (None, generic.estimate_probabilities)
    return PolicyDescription(
        cls.name,
        cls.kind,
        " ".join(_documentation(cls).split("\n\n")[0].split()),
        _example(cls),
        tuple(_parameter(item, meanings.get(item.name, "")) for item in fields),
        issubclass(cls, Learner),
        stated if issubclass(cls, AnyLearner) else None,
        any(item.default is None and item.metadata.get("from_horizon") for item in fields),
    )


def paragraphs(cls: type[Policy]) -> list[str]:
    """Return the paragraphs of a policy's documentation, without the sections for readers of the source."""
    before, titled = _sections(cls)
    references = f"Reference: {titled['References']}" if "References" in titled else ""
    return [part for part in f"{before}\n\n{titled.get('Notes', '')}\n\n{references}".split("\n\n") if part]


def _documentation(cls: type[Policy]) -> str:
    return inspect.cleandoc(cls.__doc__ or "")


def _sections(cls: type[Policy]) -> tuple[str, dict[str, str]]:
    """Split the documentation into its first part and its sections by title."""
    before, *sections = re.split(r"^(\w[\w ]*)\n-+\n", _documentation(cls), flags=re.MULTILINE)
    return before, dict(zip(sections[::2], sections[1::2], strict=True))


def _meanings(cls: type[Policy]) -> dict[str, str]:
    """Return the documentation of each parameter, by name."""
    _, titled = _sections(cls)
    found = re.findall(r"^(\w[\w, ]*?)(?: : .*)?\n((?: +.*\n?)+)", titled.get("Parameters", ""), flags=re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}


def _example(cls: type[Policy]) -> str:
    """Return the first policy that the class's doctest prints, or the policy's name if the doctest prints none."""
    for example in doctest.DocTestParser().get_examples(_documentation(cls)):
        written = example.want.strip().strip("'")
        if written.startswith(cls.name):
            return written
    return cls.name


def _parameter(item: dataclasses.Field[Any], meaning: str) -> ParameterDescription:
    """Describe a parameter: its default, and the allowed values in the words of its own check."""
    check = item.metadata.get("check")
    words = _expectation(check, object()) if check else str(item.type)
    required = item.default is dataclasses.MISSING or bool(check and _expectation(check, item.default))
    default = None if required or item.default is None else text_of(item.default)
    return ParameterDescription(item.name, meaning, words, default, required)


def _expectation(check: Any, value: object) -> str:
    try:
        check("", value)
    except InputError as error:
        return error.expected
    return ""
