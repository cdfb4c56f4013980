"""Convert the form of New trial to the text of a design file."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adhere.errors import InputError
from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.numbers import Kind, lines, number
from adhere_client.responses.simulations import PolicyDetails

_GUARDS: Final[tuple[tuple[str, str, Kind], ...]] = (("floor", "share", "share"), ("burn-in", "patients", "whole"))


def policy_text(reader: FormReader, policies: Sequence[PolicyDetails]) -> str:
    """Return the policy as written in a design. Values that cannot be read are left out and noted as problems.

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
    """Return a parameter as written in a policy: a number with a decimal point, or any other text unchanged."""
    typed = reader.text(name)
    if not re.fullmatch(r"[+-]?[\d.,\s]+%?", typed):
        return typed
    try:
        return f"{number(typed, 'share' if typed.endswith('%') else 'number')}"
    except InputError as error:
        reader.refuse(name, error.sentence)
        return ""


THRESHOLDS: Final = ("superiority", "inferiority", "equivalence", "futility")
# API names with other names in the form. The longest matching beginning counts.
_FORM_FIELDS: Final = {
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
_WHEN: Final = {
    "every": "After how many outcomes?",
    "at": "After how many outcomes? Such as 100, 200, 300.",
    "days": "After which days? Such as 60, 120.",
}


def design_json(reader: FormReader, policies: Sequence[PolicyDetails]) -> str:
    """Return the typed design as the text of a JSON file, without the fields that cannot be read."""
    form = reader.form
    if not reader.text("name"):
        reader.refuse("name", "Give the trial a name.")
    fields: dict[str, Any] = {
        "name": reader.text("name"),
        "policy": policy_text(reader, policies),
        "arms": _arms(reader),
        "control": reader.text("control") or None,
        "n_patients": _n_patients(reader),
        "reward_values": reader.numbers("reward_values", "share") if reader.text("reward_values") else [0, 1],
        "blinded": "blinded" in form,
        "repeats": "repeats" in form,
        "entries": form.get("entries") or "once",
        "rehearsal": "rehearsal" in form,
        "outcome_words": reader.valued_lines("outcome_words"),
        "lower_is_better": "lower_is_better" in form,
        "strata": _strata(reader),
        "update": reader.text("update") or "every patient",
        "impute": _impute(reader),
        "looks": _looks(reader),
        "stopping": _stopping(reader),
        "enrolment": _part(per_day=reader.number("enrolment.per_day")),
        "delay": _part(days=reader.number("delay.days")),
        "missing": _part(outcome=_part(rate=reader.number("missing.outcome", "share"))),
    }
    return json.dumps({name: value for name, value in fields.items() if value not in (None, {})})


def form_field(field: str, form: Mapping[str, str]) -> str:
    """Return the form's field into which a field of the API is typed.

    >>> form_field("design.looks.every", {}), form_field("floor share", {}), form_field("stopping.margin", {})
    ('looks.numbers', 'floor.share', 'stopping.margin')
    >>> form_field("exp3 gamma", {"exp3.gamma": "2"})
    'exp3.gamma'
    """
    name = re.sub(r"\[\d+\]", "", field.removeprefix("design.")).replace(" ", ".", 1)
    if name in form and not name.startswith("looks"):
        return name
    beginnings = [one for one in _FORM_FIELDS if name == one or name.startswith(f"{one}.")]
    exact = name.startswith("stopping.") or name in ("impute.after_days", "impute.reward", "reward_values")
    return name if exact or not beginnings else _FORM_FIELDS[max(beginnings, key=len)]


def _arms(reader: FormReader) -> list[str]:
    found = lines(reader.text("arms"))
    if len(found) < 2:
        reader.refuse("arms", "name at least two arms, one on each line")
    return found


def _strata(reader: FormReader) -> list[str]:
    found = lines(reader.text("strata"))
    if found and not reader.text("burn-in.patients"):
        reader.refuse("strata", "strata are balanced in the blocks of a burn-in: type above how many patients it has")
    return found


def _n_patients(reader: FormReader) -> int | float | None:
    found, burn_in = reader.number("n_patients", "whole"), reader.number("burn-in.patients", "whole")
    if found is not None and burn_in is not None and burn_in > found:
        reader.refuse("burn-in.patients", f"the burn-in takes {burn_in} patients, more than the trial has, {found}")
    return found


def _impute(reader: FormReader) -> dict[str, Any] | None:
    found = _part(
        after_days=reader.number("impute.after_days"),
        reward=reader.number("impute.reward", "share"),
        took_nothing=True if "impute.took_nothing" in reader.form else None,
    )
    assumed = reader.text("impute.reward") or "impute.took_nothing" in reader.form
    if assumed and not reader.text("impute.after_days"):
        reader.refuse("impute.after_days", "After how many days?")
    return found or None


def _looks(reader: FormReader) -> dict[str, Any]:
    kind = reader.text("looks")
    if not kind:
        if reader.text("looks.numbers"):
            sentence = "numbers are typed here, but the only look is at the end: choose when to look"
            reader.refuse("looks.numbers", f"{sentence}, or empty this field")
        return {}
    if not reader.text("looks.numbers"):
        reader.refuse("looks.numbers", _WHEN.get(kind, "After how many outcomes?"))
        return {}
    found = reader.numbers("looks.numbers", "number" if kind == "days" else "whole")
    if kind == "every" and len(found) > 1:
        reader.refuse("looks.numbers", "After how many outcomes? One number, such as 80.")
        return {}
    return {kind: found[0] if kind == "every" else found} if found else {}


def _stopping(reader: FormReader) -> dict[str, Any] | None:
    by = reader.text("stopping.by")
    if not by:
        for name in (*THRESHOLDS, "margin", "alpha"):
            if reader.text(f"stopping.{name}"):
                sentence = "a number is typed here, but nothing stops the trial: choose by what, or empty this field"
                reader.refuse(f"stopping.{name}", sentence)
        return None
    kind: Kind = "number" if by == "z-test" else "share"
    found = {name: reader.one_or_all(f"stopping.{name}", kind) for name in THRESHOLDS}
    if reader.text("stopping.mirrored"):
        found["inferiority"] = "1 - superiority"
    found |= {name: reader.number(f"stopping.{name}", "share") for name in ("margin", "alpha")}
    return _part(by=by, boundary=reader.text("stopping.boundary") or None, **found)


def _part(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}
