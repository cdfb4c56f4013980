"""Why a protocol prefers the wrong arm: whose patients mislead it, found by leaving them out."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.exploration.beliefs import credited, sign_of, truth_of
from adhere.exploration.groups import ALWAYS, COMPLIERS, DEFIERS, NEVER, TREATMENT, Group
from adhere.populations.examples import ARMS


def why_fooled(groups: Sequence[Group], protocol: str) -> str:
    """Whose patients make a protocol prefer the wrong arm, and how, as a clause."""
    truth = sign_of(truth_of(groups).effect)
    if not is_misled(_only(groups, COMPLIERS, DEFIERS), protocol, truth):
        return _why_selected(groups, protocol, truth)
    if protocol == "comply":
        return "it never counts the defiers, and they decide which arm is better to recommend"
    return (
        "defiers do the opposite of what they are told, so for them and compliers together the arm that is better to "
        "take is worse to recommend"
    )


def is_misled(groups: Sequence[Group], protocol: str, truth: int) -> bool:
    """Whether a protocol that sees these patients alone prefers an arm that is not better to recommend."""
    control, treatment = credited(groups, protocol)
    return control is not None and treatment is not None and sign_of(treatment - control) not in (0, truth)


def _why_selected(groups: Sequence[Group], protocol: str, truth: int) -> str:
    """Of those who always take the same arm, whoever is to blame alone; both, if neither is."""
    present = [name for name in (ALWAYS, NEVER) if _group(groups, name).share > 0]
    alone = [name for name in present if not is_misled(_without(groups, name), protocol, truth)]
    if not alone:
        return " and ".join(_fares(groups, protocol, name) for name in present)
    shift = {name: _shift(groups, protocol, name) for name in alone}
    return _fares(groups, protocol, max(alone, key=lambda name: shift[name]))


def _shift(groups: Sequence[Group], protocol: str, name: str) -> float:
    """How far leaving a compliance type out moves the difference."""
    with_it, without = (credited(some, protocol) for some in (groups, _without(groups, name)))
    if None in without:
        return float("inf")
    return abs((with_it[1] or 0.0) - (with_it[0] or 0.0) - (without[1] or 0.0) + (without[0] or 0.0))


def _fares(groups: Sequence[Group], protocol: str, name: str) -> str:
    """How those who always take one arm fare on it, against the others who are credited to it."""
    one = _group(groups, name)
    arm = one.takes[TREATMENT]
    own, others = one.rewards[arm], credited(_without(groups, name), protocol)[arm]
    who = f"{name}, who take the {ARMS[arm]} whatever they are told,"
    if others is None:
        return f"only {name} are credited to the {ARMS[arm]}, and they fare otherwise than those told to take it"
    return f"{who} fare {'better' if own > others else 'worse'} ({number(own)}) than others on it ({number(others)})"


def number(value: float) -> str:
    """A mean reward or a difference in at most three decimals.

    >>> number(0.5), number(0.58333), number(-0.0001)
    ('0.5', '0.583', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def percent(share: float) -> str:
    """A share as a whole percentage, unless that would be 0% or 100% and is not.

    >>> percent(0.5), percent(0.004), percent(0.9996)
    ('50%', '0.4%', '99.96%')
    """
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or 0.0 < float(text) < 100.0:
            break
    return f"{text}%"


def _group(groups: Sequence[Group], name: str) -> Group:
    return next(group for group in groups if group.name == name)


def _only(groups: Sequence[Group], *names: str) -> list[Group]:
    return [group for group in groups if group.name in names]


def _without(groups: Sequence[Group], name: str) -> list[Group]:
    return [group for group in groups if group.name != name]
