"""The text of a policy from the fields of a form: its name, parameters and protocol, inside a floor and a burn-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adhere.errors import InputError
from adhere.service.api.design_views import PolicyView
from adhere.service.pages.forms.numbers import number


def policy_text(form: Mapping[str, str], policies: Sequence[PolicyView]) -> str:
    """The policy as a design writes it.

    >>> from adhere.service.api.design_views import ParameterView
    >>> gamma = ParameterView("gamma", "", "", required=False)
    >>> exp3 = PolicyView("exp3", "learner", "", "", [gamma], ("chosen", "actual"), needs_n_patients=True)
    >>> typed = {"policy": "exp3", "exp3.gamma": "0.1", "exp3.protocol": "actual", "floor.share": "0.1"}
    >>> policy_text({**typed, "burn-in.patients": "40"}, [exp3])
    'burn-in(floor(exp3(gamma=0.1)/actual, share=0.1), patients=40)'
    """
    name = form.get("policy", "")
    found = next((one for one in policies if one.name == name), None)
    if found is None:
        return name
    names = [one.name for one in found.parameters]
    given = [f"{one}={form[f'{name}.{one}']}" for one in names if form.get(f"{name}.{one}")]
    text = f"{name}({', '.join(given)})" if given else name
    protocol = form.get(f"{name}.protocol", "")
    if found.protocols and protocol not in ("", found.protocols[0]):
        text += f"/{protocol}"
    for guard, first in (("floor", "share"), ("burn-in", "patients")):
        if size := form.get(f"{guard}.{first}", "").strip():
            if not isinstance(number(size), (int, float)):
                raise InputError(
                    f"{guard} {first}", size, "a number, such as 0.1" if guard == "floor" else "a number"
                )
            rule = ", rule=clip" if guard == "floor" and form.get("floor.rule") == "clip" else ""
            text = f"{guard}({text}, {first}={size}{rule})"
    return text
