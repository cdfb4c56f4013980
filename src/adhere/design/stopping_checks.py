"""Checks of a design's stopping rules: thresholds must suit the evidence and must not contradict one another.

A threshold that is not given is off; calibration may set it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from adhere.design.design import Design
from adhere.design.parts import MIRRORED, Stopping, Threshold
from adhere.design.planned_looks import burn_in_of, planned_looks
from adhere.design.sentences import say
from adhere.errors import InputError
from adhere.policies import as_policy
from adhere.policies.guards.guard import inside_guards


def why_not_exact(design: Design) -> str:
    """Return why the probabilities of a design's decisions are estimated by drawing, or "" if they are exact.

    If a design updates at looks only and has no burn-in, arms are drawn with stored probabilities, which are exact
    for every policy.
    """
    policy = as_policy(design.policy)
    is_prescribed = design.update == "at looks" and burn_in_of(design).patients == 0
    if is_prescribed or not policy.estimates_probabilities:
        return ""
    learner = next(one for one in policy.learners() if one.estimates_probabilities)
    return f"{learner.name} has no `probabilities`, so that they would be estimated by drawing"


THRESHOLDS: Final = ("superiority", "inferiority", "equivalence", "futility")
# The fields that each kind of evidence uses.
_TAKES: Final[Mapping[str, Sequence[str]]] = {
    "posterior": (*THRESHOLDS, "margin"),
    "belief": ("superiority", "inferiority"),
    "z-test": (*THRESHOLDS, "margin", "boundary", "alpha"),
    "wealth": ("alpha",),
}
PROBABILITIES: Final = ("posterior", "belief")
MAX_BOUNDARY_LOOKS: Final = 100  # the cost of computing critical values grows with the square of the number of looks


def check_stopping(design: Design) -> None:
    """Raise an `InputError` if the stopping rules cannot be applied."""
    rules = design.stopping
    if rules is None:
        return
    for name in (*THRESHOLDS, "margin", "boundary", "alpha"):
        if getattr(rules, name) is not None and name not in _TAKES[rules.by]:
            takes = ", ".join(_TAKES[rules.by])
            sentence = f"stopping.{name} does not apply to {rules.by!r}, which takes {takes}"
            raise InputError(f"stopping.{name}", getattr(rules, name), "none", sentence)
    _check_comparison(design, rules)
    if rules.by == "belief":
        _check_belief(design)
    if rules.by == "wealth" and (reason := why_not_exact(design)):
        sentence = f"stopping.by: 'wealth' needs the exact probability of each arm at each decision; {reason}"
        raise InputError("stopping.by", "wealth", "a policy with exact probabilities", sentence)
    _check_level(design, rules)
    _check_margin(rules)
    looks = {name: numbers_by_look(name, rules, planned_looks(design)) for name in THRESHOLDS}
    _check_contradictions(rules, looks)


def may_drop_arms(design: Design) -> bool:
    """Return whether a look may drop an arm and continue with at least two."""
    rules = design.stopping
    if rules is None or len(design.arms) == 2:
        return False
    drops = (rules.inferiority, rules.equivalence if design.control else None, rules.futility)
    return rules.by in ("z-test", "wealth") or any(threshold is not None for threshold in drops)


def _check_comparison(design: Design, rules: Stopping) -> None:
    if len(design.arms) == 2:
        return
    if design.control is None:
        needing = rules.by if rules.by in ("z-test", "wealth") else "futility" if rules.futility is not None else ""
        if needing:
            sentence = f"control: {needing!r} needs one of the {len(design.arms)} arms as control, to compare with"
            raise InputError("control", None, "one of the arms", sentence)
    elif rules.by == "belief":
        sentence = "control: 'belief' says which arm is best, and has a control only where there are two arms"
        raise InputError("control", design.control, "none", sentence)


def _check_belief(design: Design) -> None:
    policy = inside_guards(as_policy(design.policy))
    if not getattr(policy, "matches_probability", False):
        sentence = say("no_posterior", policy=policy.name)
        raise InputError("stopping.by", "belief", "a policy with a posterior", sentence)


def _check_level(design: Design, rules: Stopping) -> None:
    if rules.boundary is not None:
        if rules.superiority is not None:
            sentence = "stopping.boundary and stopping.superiority exclude each other; give one of them"
            raise InputError("stopping.superiority", rules.superiority, "none beside a boundary", sentence)
        if design.looks.days:
            sentence = "looks.days: a boundary needs looks by number of patients (looks.at or looks.every)"
            raise InputError("looks.days", list(design.looks.days), "looks by number", sentence)
        if (n_looks := planned_looks(design)) > MAX_BOUNDARY_LOOKS:
            raise InputError("looks", n_looks, f"at most {MAX_BOUNDARY_LOOKS} looks with a boundary")
    needs = rules.by == "wealth" or rules.boundary is not None
    if not needs and rules.alpha is not None:
        raise InputError("stopping.alpha", rules.alpha, "none without a boundary")
    if needs and (rules.alpha is None or not 0.0 < rules.alpha < 1.0):
        raise InputError("stopping.alpha", rules.alpha, "the level of the test, between 0 and 1, such as 0.05")


def _check_margin(rules: Stopping) -> None:
    margin = rules.margin
    if margin is not None and not 0.0 < margin < 1.0:
        raise InputError("stopping.margin", margin, "a difference between 0 and 1")
    if margin is None and rules.equivalence is not None:
        sentence = "stopping.equivalence needs stopping.margin, the difference below which arms count as equal"
        raise InputError("stopping.margin", None, "a difference between 0 and 1", sentence)
    if margin is not None and rules.equivalence is None and (rules.futility is None or rules.by == "z-test"):
        sentence = "stopping.margin is for equivalence and futility by probabilities, and neither is given"
        raise InputError("stopping.margin", margin, "none", sentence)


def numbers_by_look(name: str, rules: Stopping, n_looks: int) -> tuple[float, ...] | None:
    """Return the values of a threshold, one for each look."""
    threshold: Threshold | str | None = getattr(rules, name)
    field = f"stopping.{name}"
    if threshold is None:
        return None
    if isinstance(threshold, str):
        if threshold != MIRRORED or rules.by == "z-test":
            either = "" if rules.by == "z-test" else f", or {MIRRORED!r}"
            raise InputError(field, threshold, f"one number for all looks, or one for each{either}")
        above = numbers_by_look("superiority", rules, n_looks)
        return None if above is None else tuple(1.0 - value for value in above)
    values = threshold if isinstance(threshold, tuple) else (threshold,) * n_looks
    if len(values) != n_looks:
        raise InputError(field, list(values), f"one number, or one for each of the {n_looks} looks")
    for value in values:
        if rules.by in PROBABILITIES:  # rounding would be the only way to reach 1, or 0
            if name in ("superiority", "equivalence") and not 0.0 <= value < 1.0:
                raise InputError(field, value, "a probability from 0, below 1")
            if name in ("inferiority", "futility") and not 0.0 < value <= 1.0:
                raise InputError(field, value, "a probability above 0, to 1")
        if not math.isfinite(value) or (value <= 0.0 and rules.by == "z-test" and name != "futility"):
            raise InputError(field, value, "a critical value above 0")
    return values


def _check_contradictions(rules: Stopping, looks: Mapping[str, tuple[float, ...] | None]) -> None:
    above = looks["superiority"]
    against = ["futility"] if rules.by == "z-test" else ["inferiority", "futility"]  # inferior if z < -value
    for name in against:
        below = looks[name]
        for look, (high, low) in enumerate(zip(above or (), below or (), strict=False), start=1):
            if low >= high:
                at = f" at look {look}" if len(set(above or ())) > 1 or len(set(below or ())) > 1 else ""
                sentence = say("contradiction", name=name, low=low, high=high, at=at)
                raise InputError(f"stopping.{name}", low, f"a number below {high:g}", sentence)
