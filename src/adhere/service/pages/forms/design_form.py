"""The form of a design: from what was typed to the fields of a design, and from a refused field back to its place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adhere.errors import InputError
from adhere.service.api.design_views import PolicyView
from adhere.service.pages.forms.numbers import lines, number, numbers, one_or_all, valued_lines
from adhere.service.pages.forms.policy_text import policy_text

_THRESHOLDS: Final = ("superiority", "inferiority", "equivalence", "futility")
# What is refused under one name and typed under another: the longest beginning counts.
_PLACES: Final = {
    "reward": "reward_values",
    "outcome_words": "outcome_words",
    "impute.actual": "impute.reward",
    "impute.took_nothing": "impute.reward",
    "impute": "impute.after_days",
    "looks": "looks.numbers",
    "stopping": "stopping.by",
    "enrolment": "enrolment.per_day",
    "delay": "delay.days",
    "missing": "missing.outcome",
    "floor": "floor.share",
    "burn-in": "burn-in.patients",
    "scenarios": "scenarios.effect",
    "trial": "name",
    "design": "file",
}
DEFAULTS: Final = {"policy": "thompson", "reward_values": "0, 1"}
N_TRIALS: Final = 1000
SCENARIOS: Final = {
    "scenarios.baseline": "0.5",
    "scenarios.effect": "0.1, 0.2",
    "scenarios.compliance": "1, 0.7",
    "scenarios.confounding": "0.2",
    "n_trials": str(N_TRIALS),
}


def design_json(form: Mapping[str, str], policies: Sequence[PolicyView]) -> str:
    """The design that was typed, as the text of a file in JSON."""
    fields: dict[str, Any] = {
        "name": form.get("name", ""),
        "policy": policy_text(form, policies),
        "arms": lines(form.get("arms", "")),
        "control": form.get("control") or None,
        "n_patients": number(form.get("n_patients", "")),
        "reward_values": numbers(form.get("reward_values", "0, 1")),
        "blinded": "blinded" in form,
        "repeats": "repeats" in form,
        "rehearsal": "rehearsal" in form,
        "outcome_words": valued_lines(form.get("outcome_words", "")),
        "strata": lines(form.get("strata", "")),
        "update": form.get("update") or "every patient",
        "impute": _impute(form),
        "looks": _looks(form),
        "stopping": _stopping(form),
        "enrolment": _part(per_day=number(form.get("enrolment.per_day", ""))),
        "delay": _part(days=number(form.get("delay.days", ""))),
        "missing": _part(outcome=_part(rate=number(form.get("missing.outcome", "")))),
    }
    return json.dumps({name: value for name, value in fields.items() if value not in (None, {})})


def scenario_table(form: Mapping[str, str]) -> dict[str, Any]:
    """The grid of scenarios that was typed."""
    grid = {name: numbers(form.get(f"scenarios.{name}", "")) for name in ("effect", "compliance", "confounding")}
    return _part(baseline=number(form.get("scenarios.baseline", "")), **grid)


def scenario_fields(table: object) -> dict[str, str] | None:
    """A grid of scenarios that stands in a file, as it is typed; None if it cannot be, such as effects by arm.

    >>> scenario_fields({"effect": [0.1, 0.2], "compliance": 0.7})
    {'scenarios.baseline': '0.5', 'scenarios.effect': '0.1, 0.2', 'scenarios.compliance': '0.7', \
'scenarios.confounding': '0'}
    >>> scenario_fields({"effect": [{"aspirin": 0.1}]})
    """
    usual: dict[str, Any] = {"baseline": 0.5, "effect": [], "compliance": 1, "confounding": 0}
    if not isinstance(table, Mapping) or set(table) - set(usual):
        return None
    typed = {}
    for name, value in {**usual, **table}.items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in values):
            return None
        typed[f"scenarios.{name}"] = ", ".join(f"{one:.15g}" for one in values)
    return typed


def place_of(field: str, form: Mapping[str, str]) -> str:
    """The field of the form that a field of the API is typed in.

    >>> place_of("design.looks.every", {}), place_of("floor share", {}), place_of("stopping.margin", {})
    ('looks.numbers', 'floor.share', 'stopping.margin')
    >>> place_of("exp3 gamma", {"exp3.gamma": "2"})
    'exp3.gamma'
    """
    name = re.sub(r"\[\d+\]", "", field.removeprefix("design.")).replace(" ", ".", 1)
    if name == "policy" and form.get("strata", "").strip() and not form.get("burn-in.patients"):
        return "strata"  # which need a burn-in
    if name == "policy" and _exceeds(form.get("burn-in.patients", ""), form.get("n_patients", "")):
        return "burn-in.patients"
    if name in form and not name.startswith("looks"):
        return name
    beginnings = [one for one in _PLACES if name == one or name.startswith(f"{one}.")]
    exact = name.startswith("stopping.") or name in ("impute.after_days", "impute.reward", "reward_values")
    return name if exact or not beginnings else _PLACES[max(beginnings, key=len)]


def _exceeds(text: str, other: str) -> bool:
    mine, theirs = number(text), number(other)
    return isinstance(mine, int) and isinstance(theirs, int) and mine > theirs


def _impute(form: Mapping[str, str]) -> dict[str, Any] | None:
    found = _part(
        after_days=number(form.get("impute.after_days", "")),
        reward=number(form.get("impute.reward", "")),
        took_nothing=True if "impute.took_nothing" in form else None,
    )
    return found or None


def _looks(form: Mapping[str, str]) -> dict[str, Any]:
    kind, found = form.get("looks", ""), numbers(form.get("looks.numbers", ""))
    if found and not kind:
        sentence = "numbers are typed here, but the only look is at the end: choose when to look, or empty this field"
        raise InputError("looks", form["looks.numbers"], "an empty field", sentence)
    if kind == "every":
        return {"every": found[0] if len(found) == 1 else found or form.get("looks.numbers", "")}
    return {kind: found} if kind in ("at", "days") else {}


def _stopping(form: Mapping[str, str]) -> dict[str, Any] | None:
    if not form.get("stopping.by"):
        for name in (*_THRESHOLDS, "margin", "alpha"):
            if typed := form.get(f"stopping.{name}", "").strip():
                sentence = "a number is typed here, but nothing stops the trial: choose by what, or empty this field"
                raise InputError(f"stopping.{name}", typed, "an empty field", sentence)
        return None
    found = {name: one_or_all(form.get(f"stopping.{name}", "")) for name in _THRESHOLDS}
    if form.get("stopping.mirrored"):
        found["inferiority"] = "1 - superiority"
    found |= {name: number(form.get(f"stopping.{name}", "")) for name in ("margin", "alpha")}
    return _part(by=form["stopping.by"], boundary=form.get("stopping.boundary") or None, **found)


def _part(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}
