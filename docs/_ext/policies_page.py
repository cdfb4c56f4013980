"""The reference of policies: an entry for each, from what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator

from markdown import code, plain, table

import adhere
from adhere.policies.all_policies import CLASSES
from adhere.policies.base.description import PolicyDescription, describe

_KINDS = {
    "learner": ("Learners", "A learner takes a protocol after a slash: `thompson/actual`."),
    "learner that sees both arms": (
        "Compliance-aware learners",
        "They are told the arm recommended and the arm taken, and have no protocol.",
    ),
    "guard": ("Guards", "A guard surrounds another policy and decides some of the recommendations itself."),
    "hybrid": ("Hybrids", "A hybrid is made of other policies."),
}


def policies_list() -> str:
    """Return an entry for each policy of the package, by kind."""
    described = [(cls.__name__, describe(cls)) for cls in CLASSES.values()]
    unknown = {one.kind for _, one in described} - set(_KINDS)
    if unknown:
        raise KeyError(f"no heading for policies of the kind {', '.join(unknown)}")
    parts = []
    for kind, (title, words) in _KINDS.items():
        parts += [f"## {title}\n\n{words}\n"]
        parts += [line for name, one in described if one.kind == kind for line in _entry(name, one)]
    return "\n".join(parts)


def _entry(name: str, one: PolicyDescription) -> Iterator[str]:
    yield f"### {one.name}\n\n{plain(one.summary)}\n"
    if one.parameters:
        rows = [
            (
                code(parameter.name),
                plain(parameter.expected),
                "required" if parameter.required else code(parameter.default or ""),
                plain(parameter.meaning),
            )
            for parameter in one.parameters
        ]
        yield table(("parameter", "must be", "default", "meaning"), rows)
    facts = [f"Example: `{one.example}`."]
    if one.needs_n_patients:
        facts.append("It needs the number of patients unless every parameter is given.")
    if one.states_probabilities is False:
        facts.append("It states no probabilities, so they are estimated by drawing.")
    if name in adhere.__all__:
        facts.append(f"In Python: [`adhere.{name}`](generated/api/adhere.{name}.rst).")
    yield " ".join(facts) + "\n"
