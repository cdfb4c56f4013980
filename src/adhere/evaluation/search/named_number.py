"""Read or replace a numeric parameter of a design by name, such as `stopping.superiority` or `policy.share`.

A name is the path of a number in the design's file. `policy.NAME` is a parameter of the design's policy: of the
outermost guard that has this parameter, otherwise of the policy inside.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import msgspec

from adhere.checks import is_number
from adhere.design.design import Design
from adhere.errors import InputError, nearest
from adhere.evaluation.search.search import PLAIN, PROBIT, Range
from adhere.policies import Policy, parse_policy
from adhere.policies.guards.guard import Guard

_POLICY = "policy."
_STOPPING = "stopping."
_THRESHOLDS = ("superiority", "inferiority", "equivalence", "futility", "margin", "alpha")


def numbers_of(design: Design) -> dict[str, float]:
    """Return all numeric parameters of a design by name.

    >>> list(numbers_of(Design("a", "floor(thompson, share=0.1)", ("x", "y"), n_patients=100)))[:3]
    ['n_patients', 'policy.share', 'enrolment.per_day']
    """
    found = {} if design.n_patients is None else {"n_patients": float(design.n_patients)}
    for _, name, value in _policy_numbers(design):
        found.setdefault(f"{_POLICY}{name}", value)
    for field in design.__struct_fields__:
        if isinstance(part := getattr(design, field), msgspec.Struct):
            numbers = {name: getattr(part, name) for name in part.__struct_fields__}
            found |= {f"{field}.{name}": float(one) for name, one in numbers.items() if is_number(one)}
    return found


def number_of(design: Design, name: str) -> float | None:
    """Return the value of a parameter of a design, or None for a threshold that is not set.

    >>> number_of(Design("a", "floor(thompson, share=0.1)", ("x", "y")), "policy.share")
    0.1
    """
    if not isinstance(name, str):
        raise InputError("number", name, "the name of a number, such as stopping.superiority")
    known = numbers_of(design)
    if name in known:
        return known[name]
    field = name.removeprefix(_STOPPING)
    if design.stopping is not None and name.startswith(_STOPPING) and field in _THRESHOLDS:
        value = getattr(design.stopping, field)
        if value is None:
            return None
        what = "has a number for each look" if isinstance(value, tuple) else f"is {value!r}"
        raise InputError("number", name, "one number", f"{name} {what}; expected one number for all looks")
    raise InputError("number", name, nearest(name, known))


def with_number(design: Design, name: str, value: float) -> Design:
    """Return the design with another value of a parameter.

    >>> with_number(Design("a", "floor(thompson, share=0.1)", ("x", "y")), "policy.share", 0.2).policy
    'floor(thompson, share=0.2)'
    """
    number_of(design, name)  # refuses unknown names
    part, _, field = name.rpartition(".")
    if part + "." == _POLICY:
        holder = next(policy for policy, own, _ in _policy_numbers(design) if own == field)
        changed = _replaced(parse_policy(design.policy), holder, field, value)
        return msgspec.structs.replace(design, policy=str(changed))
    if not part:
        return msgspec.structs.replace(design, **{field: round(value)})
    inner = msgspec.structs.replace(getattr(design, part), **{field: value})
    return msgspec.structs.replace(design, **{part: inner})


def _policy_numbers(design: Design) -> Iterator[tuple[Policy, str, float]]:
    """Iterate over the parameters of a design's policy, guards first: owner, name, value."""
    policy: Any = parse_policy(design.policy)
    while isinstance(policy, Policy):
        for item in dataclasses.fields(policy):
            value = getattr(policy, item.name)
            if is_number(value):
                yield policy, item.name, float(value)
        policy = policy.inner if isinstance(policy, Guard) else None


def _replaced(policy: Policy, holder: Policy, field: str, value: float) -> Policy:
    """Return a policy with another parameter value in one of its guards or in itself."""
    if policy == holder:
        return dataclasses.replace(policy, **{field: value})
    assert isinstance(policy, Guard)
    return dataclasses.replace(policy, inner=_replaced(policy.inner, holder, field, value))


_RANGES = {
    "stopping.superiority": Range(0.51, 0.99999, PROBIT, 5, strict="high"),
    "stopping.inferiority": Range(0.00001, 0.49, PROBIT, 5, strict="low"),
    "stopping.equivalence": Range(0.51, 0.99999, PROBIT, 5),
    "stopping.futility": Range(0.00001, 0.49, PROBIT, 5),
    "stopping.alpha": Range(0.00001, 0.5, PROBIT, 5, strict="low"),
    "stopping.margin": Range(0.001, 0.5, PLAIN, 4),
}


def usual_number(design: Design) -> str:
    """Return the parameter that controls how often a design makes claims, which a calibration searches by default."""
    if design.stopping is None:
        sentence = "stopping: the design has none, so it never claims a difference; there is nothing to calibrate"
        raise InputError("stopping", None, "what looks decide by", sentence)
    has_level = design.stopping.boundary is not None or design.stopping.by == "wealth"
    return "stopping.alpha" if has_level else "stopping.superiority"


def range_to_search(design: Design, number: str, between: tuple[float, float] | None) -> Range:
    """Return the range to search; `between` narrows it, and is required for parameters without a known range."""
    number_of(design, number)  # refuses unknown names
    by_z_test = design.stopping is not None and design.stopping.by == "z-test"
    is_critical_value = by_z_test and number in ("stopping.superiority", "stopping.inferiority")
    usual = Range(0.5, 8.0, PLAIN, 4, strict="high") if is_critical_value else _RANGES.get(number)
    if between is None:
        if usual is None:
            sentence = f"{number}: between which two numbers to search? Give between (--between LOW HIGH)"
            raise InputError("between", None, "the two ends of the range to search", sentence)
        return usual
    is_pair = isinstance(between, (tuple, list)) and len(between) == 2 and all(map(is_number, between))
    if not is_pair or not between[0] < between[1]:
        raise InputError("between", between, "two numbers, the lower one first")
    low, high = map(float, between)
    if usual is None:
        return Range(low, high, PLAIN, 4)
    if low < usual.low or high > usual.high:
        raise InputError("between", between, f"numbers from {usual.low:g} to {usual.high:g} for {number}")
    return Range(low, high, usual.scale, usual.decimals, usual.strict)
