"""Import a table of recommendations as a new trial: a table that `export` wrote, or one with the same columns.

The column MEMO may be missing only if the policy has no memo. The policy learns from the rows in the order of their
records or, if these are missing, of the table. Nothing is drawn, so replay reports that it has nothing to derive.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import polars as pl

from adhere.checks import check_text
from adhere.csv_cells import reward_in
from adhere.design.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.design.design import Design
from adhere.errors import InputError, nearest
from adhere.store import Store
from adhere.trial.domain.events import EnteredInError, Imputed, Recommended, Reported, Withdrawn
from adhere.trial.domain.log_records import commitment
from adhere.trial.log.table_reading import number_of, text_of
from adhere.trial.policy.engine import engine_of
from adhere.trial.verbs.context import Change
from adhere.trial.writing.creation import create_trial
from adhere.trial.writing.execution import new_salt, new_subject
from adhere.trial.writing.transaction import TrialTransaction


class _Step(NamedTuple):
    """An event that a row represents, and its place in the order of all events."""

    order: tuple[float, int, int]
    row: int
    what: str


def import_table(
    table: pl.DataFrame, store: Store, design: Design, on_progress: Callable[[int], None] = lambda n: None
) -> int:
    """Create a trial from a table and return the number of records."""
    engine_of(design).load()
    rows = table.to_dicts()
    with store.writing() as writing:
        transaction = create_trial(writing, design, datetime.now(UTC), "import")
        for step in sorted(step for number, row in enumerate(rows) for step in _steps(number, row)):
            try:
                transaction.append(_change(transaction, rows[step.row], step.what))
            except InputError as error:
                raise InputError(f"row {step.row + 1}, {error.field}", error.value, error.expected) from None
            on_progress(step.what == "recommended")
        transaction.finish()
        return transaction.state.position


def _steps(number: int, row: Mapping[str, Any]) -> list[_Step]:
    start = number_of(row, "RECPOS", number)
    steps = [_Step((start, number, 0), number, "recommended")]
    heard: dict[tuple[float, str], list[str]] = {}
    for part, column, place, imputed in (
        ("actual", "TRTASTAT", "TRTAPOS", "TRTADTYP"),
        ("reward", "AVAL", "AVALPOS", "DTYPE"),
    ):
        if text_of(row, column) or (part == "actual" and text_of(row, "TRTA")):
            kind = "imputed" if text_of(row, imputed).upper() == "IMPUTED" else "reported"
            heard.setdefault((max(start, number_of(row, place, start)), kind), []).append(part)
    # The arm comes first: a reward at the same place was learned together with it.
    for turn, ((at, kind), parts) in enumerate(heard.items(), 1):
        steps.append(_Step((at, number, turn), number, f"{kind} {' '.join(parts)}"))
    for flag, what in _ENDS.items():
        if text_of(row, flag).upper() == "Y":
            steps.append(_Step((float("inf"), number, 3), number, what))
    return steps


_ENDS = {"WITHDFL": "withdrawn", "INERRFL": "entered-in-error"}


def _change(transaction: TrialTransaction, row: dict[str, Any], what: str) -> Change:
    kind, *parts = what.split()
    state = transaction.state
    if kind == "recommended":
        row["_index"] = state.n_recommendations
        return _recommended(transaction, row, _time(row, "RANDDTM"))
    stamp = {"position": state.position + 1, "by": "import", "recommendation_index": row["_index"]}
    if kind == "withdrawn":
        return Change(Withdrawn(**stamp, at=datetime.now(UTC), reason="imported"))
    if kind == "entered-in-error":
        return Change(EnteredInError(**stamp, at=datetime.now(UTC), reason="imported"))
    at = _time(row, "TRTADTM" if "actual" in parts else "ADTM")
    actual, other = _taken(state.design, row) if "actual" in parts else (None, None)
    reward = state.engine.check_reward(number_of(row, "AVAL", 0.0, reward_in)) if "reward" in parts else None
    if kind == "imputed":
        return Change(Imputed(**stamp, at=at, actual=actual, reward=reward))
    note = None if other is None else (new_salt(), other)
    text = "" if note is None else commitment(*note)
    return Change(Reported(**stamp, at=at, actual=actual, reward=reward, text=text), note=note)


def _recommended(transaction: TrialTransaction, row: Mapping[str, Any], at: datetime) -> Change:
    state = transaction.state
    memo_size, memo, fallback = state.engine.memo_size, _memo(row), text_of(row, "FALLBACK")
    if len(memo) != memo_size and not fallback:
        expected = f"the {memo_size} numbers that {state.engine.policy} remembers of a recommendation"
        raise InputError("MEMO", list(memo), expected)
    site = text_of(row, "SITEID")
    name = text_of(row, "USUBJID").removeprefix(f"{text_of(row, 'STUDYID')}/")
    pseudonym = name if name.startswith(f"{site}/") else f"{site}/{check_text('USUBJID', name)}"
    subject, arms = transaction.subject(pseudonym) or new_subject(pseudonym), state.design.arms
    if row["TRTP"] not in arms:
        raise InputError("TRTP", row["TRTP"], nearest(str(row["TRTP"]), arms))
    event = Recommended(
        position=state.position + 1,
        at=at,
        by="import",
        recommendation_index=state.n_recommendations,
        recommendation_id=state.engine.keys.new_id(state.n_recommendations),
        subject=subject.key,
        site=site,
        learned_up_to=state.position,
        chosen=arms.index(row["TRTP"]),
        probabilities=_probabilities(state.design, row),
        memo=memo,
        estimated=text_of(row, "ESTFL") == "Y",
        algorithm_version=text_of(row, "ALGORITHM_VERSION"),
        software=text_of(row, "SOFTWARE"),
        fallback=fallback,
        imported=True,
        earlier=None if state.design.entries == "repeated" else subject.latest,
    )
    return Change(event, subject._replace(latest=event.recommendation_index))


def _memo(row: Mapping[str, Any]) -> tuple[float, ...]:
    text = text_of(row, "MEMO") or "[]"
    try:
        return msgspec.json.decode(text, type=tuple[float, ...])
    except msgspec.DecodeError:
        raise InputError("MEMO", text, "a list of numbers, e.g. [0.5, 1]") from None


def _taken(design: Design, row: Mapping[str, Any]) -> tuple[int, str | None]:
    status = text_of(row, "TRTASTAT").upper() or "ARM"
    if status not in ("ARM", "NOTHING", "OTHER"):
        raise InputError("TRTASTAT", status, "ARM, NOTHING or OTHER")
    if status != "ARM" and text_of(row, "TRTA"):
        raise InputError("TRTA", text_of(row, "TRTA"), f"nothing, since TRTASTAT is {status}")
    if status == "NOTHING":
        return TOOK_NOTHING, None
    if status == "OTHER":
        return TOOK_OTHER, text_of(row, "TRTAOTH") or None
    name = row.get("TRTA")
    if name not in design.arms:
        hint = "for a subject who took none of these, leave TRTA empty and set TRTASTAT to NOTHING or OTHER"
        expected = f"{nearest(str(name), design.arms)}; {hint}; name arms that were never assigned with --arms"
        raise InputError("TRTA", name, expected)
    return design.arms.index(name), None


def _probabilities(design: Design, row: Mapping[str, Any]) -> tuple[float, ...]:
    names = [f"PROB_{arm}" for arm in design.arms]
    if not all(text_of(row, name) for name in names):
        return ()
    values = tuple(number_of(row, name, 0.0) for name in names)
    if min(values) < 0.0 or abs(sum(values) - 1.0) > 1e-6:
        raise InputError(", ".join(names), list(values), "probabilities from 0 to 1 that add up to 1")
    return values


def _time(row: Mapping[str, Any], column: str) -> datetime:
    value = row.get(column)
    if not value:
        return datetime.now(UTC)
    try:
        when = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        raise InputError(column, value, "a time, e.g. 2026-03-01T09:30:00Z") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
