"""The text of a policy from the fields of a form: its name, parameters and protocol, inside a floor and a burn-in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from adhere.errors import InputError
from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.numbers import Kind, number
from adhere_client.responses.simulations import PolicyDetails

_GUARDS: Final[tuple[tuple[str, str, Kind], ...]] = (("floor", "share", "share"), ("burn-in", "patients", "whole"))


def policy_text(reader: FormReader, policies: Sequence[PolicyDetails]) -> str:
    """The policy as a design writes it; values that cannot be read are left out and noted.

    >>> from adhere_client.responses.simulations import PolicyParameter
    >>> gamma = PolicyParameter("gamma", "", "", required=False)
    >>> exp3 = PolicyDetails("exp3", "learner", "", "", [gamma], ("chosen", "actual"), needs_n_patients=True)
    >>> typed = {"policy": "exp3", "exp3.gamma": "0,1", "exp3.protocol": "actual", "floor.share": "10%"}
    >>> policy_text(FormReader({**typed, "burn-in.patients": "40"}), [exp3])
    'burn-in(floor(exp3(gamma=0.1)/actual, share=0.1), patients=40)'
    """
    name = reader.text("policy")
    found = next((one for one in policies if one.name == name), None)
    if found is None:
        return name
    names = [one.name for one in found.parameters]
    given = [f"{one}={value}" for one in names if (value := _value(reader, f"{name}.{one}"))]
    text = f"{name}({', '.join(given)})" if given else name
    protocol = reader.text(f"{name}.protocol")
    if found.protocols and protocol not in ("", found.protocols[0]):
        text += f"/{protocol}"
    for guard, first, kind in _GUARDS:
        size = reader.number(f"{guard}.{first}", kind)
        if size is not None:
            rule = ", rule=clip" if guard == "floor" and reader.text("floor.rule") == "clip" else ""
            text = f"{guard}({text}, {first}={size}{rule})"
    return text


def _value(reader: FormReader, name: str) -> str:
    """A parameter as a policy writes it: a number with a point, any other text as it was typed."""
    typed = reader.text(name)
    if not re.fullmatch(r"[+-]?[\d.,\s]+%?", typed):
        return typed
    try:
        return f"{number(typed, 'share' if typed.endswith('%') else 'number')}"
    except InputError as error:
        reader.refuse(name, error.sentence)
        return ""
