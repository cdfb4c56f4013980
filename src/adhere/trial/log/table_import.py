"""A table of recommendations read into a trial of its own: one that `export` wrote, or one with the same columns.

What a policy must remember of each recommendation (MEMO) cannot be made up afterwards: a table without it suits only
policies that remember nothing. The policy learns from the rows in the order of their records or, without those, in
that of the table. Nothing is drawn, so replay has nothing to derive again and says so.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from adhere.errors import InputError, nearest
from adhere.store.contract import Store
from adhere.trial.case import TOOK_NOTHING, TOOK_OTHER
from adhere.trial.chain import commitment
from adhere.trial.checks import checked_text
from adhere.trial.design import Design
from adhere.trial.desk import begin
from adhere.trial.events import Imputed, Recommended, Reported, Withdrawn
from adhere.trial.sitting import Sitting

_ALSO_CALLED = {
    "subject": "USUBJID",
    "site": "SITEID",
    "chosen": "TRTP",
    "ARM": "TRTP",
    "actual": "TRTA",
    "ACTARM": "TRTA",
    "reward": "AVAL",
}


class _Act(NamedTuple):
    """Something a row tells, and where in the order of all it stands."""

    order: tuple[float, int, int]
    row: int
    what: str


def read_table(path: Path) -> pl.DataFrame:
    """A CSV or Parquet file, with CDISC's or adhere's own names of columns."""
    try:
        is_parquet = path.suffix.lower() == ".parquet"
        table = pl.read_parquet(path) if is_parquet else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("file", str(path), f"a table in CSV or Parquet ({str(error).splitlines()[0]})") from None
    for old, new in _ALSO_CALLED.items():
        if old in table.columns:
            if new in table.columns:
                raise InputError("columns", f"{old} and {new}", "only one of them: they mean the same")
            table = table.rename({old: new})
    for column in ("USUBJID", "TRTP"):
        if column not in table.columns:
            raise InputError("columns", ", ".join(table.columns), f"at least USUBJID and TRTP; {column} is missing")
    return table


def arms_in(table: pl.DataFrame) -> list[str]:
    """The arms a table names, in the order of its columns of chances or, without those, of the alphabet."""
    listed = [column.removeprefix("PROB_") for column in table.columns if column.startswith("PROB_")]
    named = {arm for column in ("TRTP", "TRTA") if column in table.columns for arm in table[column].drop_nulls()}
    return listed or sorted(named)


def rewards_in(table: pl.DataFrame) -> list[float]:
    """Every reward a table holds."""
    values = table["AVAL"].drop_nulls().unique().to_list() if "AVAL" in table.columns else []
    return [_number({"AVAL": value}, "AVAL", 0.0) for value in values if value != ""]


def import_table(
    table: pl.DataFrame,
    store: Store,
    design: Design,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    tell: Callable[[int], None] = lambda n: None,
) -> int:
    """Enter a trial with everything a table says of it; returns the number of records."""
    rows = table.to_dicts()
    with store.writing() as writing:
        live = begin(writing, design, now(), "import")
        sitting = Sitting(writing, live, now, writing.take(live.number, [], [], [])())
        for act in sorted(act for number, row in enumerate(rows) for act in _acts(number, row)):
            try:
                _enter(sitting, rows[act.row], act.what, now)
            except InputError as error:
                raise InputError(f"row {act.row + 1}, {error.field}", error.value, error.expected) from None
            tell(act.what == "recommended")
        sitting.finish()
        return sitting.position


def _acts(number: int, row: Mapping[str, Any]) -> list[_Act]:
    start = _number(row, "RECPOS", number)
    acts = [_Act((start, number, 0), number, "recommended")]
    heard: dict[float, list[str]] = {}
    for part, column, place in (("actual", "TRTASTAT", "TRTAPOS"), ("reward", "AVAL", "AVALPOS")):
        known = _text(row, column) or (part == "actual" and _text(row, "TRTA"))
        if known:
            heard.setdefault(max(start, _number(row, place, start)), []).append(part)
    for at, parts in heard.items():
        kinds = {_kind(row, part) for part in parts}
        told = {kind: [part for part in parts if _kind(row, part) == kind] for kind in kinds}
        # The arm first: a reward that stands at the same place was learned together with it.
        for turn, (kind, said) in enumerate(sorted(told.items(), key=lambda item: "actual" not in item[1]), 1):
            acts.append(_Act((at, number, turn), number, f"{kind} {' '.join(said)}"))
    if _text(row, "WITHDFL").upper() == "Y":
        acts.append(_Act((float("inf"), number, 3), number, "withdrawn"))
    return acts


def _kind(row: Mapping[str, Any], part: str) -> str:
    return "imputed" if _text(row, _IMPUTED[part]).upper() == "IMPUTED" else "reported"


_IMPUTED = {"actual": "TRTADTYP", "reward": "DTYPE"}


def _enter(sitting: Sitting, row: dict[str, Any], what: str, now: Callable[[], datetime]) -> None:
    kind, *parts = what.split()
    if kind == "recommended":
        sitting.now = _clock(row, "RANDDTM", now)
        row["_decision"] = _recommended(sitting, row)
        return
    decision = row["_decision"]
    if kind == "withdrawn":
        sitting.now = now
        sitting.add(Withdrawn, "import", decision=decision, reason="imported")
        return
    sitting.now = _clock(row, "TRTADTM" if "actual" in parts else "ADTM", now)
    actual, other = _taken(sitting, row) if "actual" in parts else (None, None)
    reward = sitting.engine.check_reward(_number(row, "AVAL", 0.0)) if "reward" in parts else None
    if kind == "imputed":
        sitting.add(Imputed, "import", decision=decision, actual=actual, reward=reward)
        return
    salt = secrets.token_bytes(16)
    text = commitment(salt, other) if other is not None else ""
    event = sitting.add(Reported, "import", decision=decision, actual=actual, reward=reward, text=text)
    if other is not None:
        sitting.note(event.position, salt, other)


def _recommended(sitting: Sitting, row: Mapping[str, Any]) -> int:
    design, engine = sitting.design, sitting.engine
    memo = _memo(row)
    fallback = _text(row, "FALLBACK")
    if len(memo) != engine.memo_size and not fallback:
        expected = f"the {engine.memo_size} numbers that {engine.policy} remembers of a recommendation"
        raise InputError("MEMO", list(memo), expected)
    site = _text(row, "SITEID")
    name = _text(row, "USUBJID").removeprefix(f"{_text(row, 'STUDYID')}/")
    pseudonym = name if name.startswith(f"{site}/") else f"{site}/{checked_text('USUBJID', name)}"
    subject = sitting.subject(pseudonym)
    if subject is None:
        subject = sitting.new_subject(pseudonym)
        sitting.enrol(subject)
    decision = sitting.decisions
    sitting.state = engine.decide_again(sitting.state, decision, memo)
    sitting.add(
        Recommended,
        "import",
        decision=decision,
        subject=subject.key,
        site=site,
        seen=sitting.position,
        chosen=_arm(design, "TRTP", row["TRTP"]),
        probabilities=_probabilities(design, row),
        memo=memo,
        estimated=_text(row, "ESTFL") == "Y",
        key=_text(row, "RANDKEY"),
        law=_text(row, "LAW"),
        software=_text(row, "SOFTWARE"),
        fallback=fallback,
        imported=True,
    )
    sitting.decisions += 1
    sitting.follow(pseudonym, decision)
    return decision


def _memo(row: Mapping[str, Any]) -> tuple[float, ...]:
    text = _text(row, "MEMO") or "[]"
    try:
        return msgspec.json.decode(text, type=tuple[float, ...])
    except msgspec.DecodeError:
        raise InputError("MEMO", text, "a list of numbers, e.g. [0.5, 1]") from None


def _taken(sitting: Sitting, row: Mapping[str, Any]) -> tuple[int, str | None]:
    status = _text(row, "TRTASTAT").upper() or "ARM"
    if status not in ("ARM", "NOTHING", "OTHER"):
        raise InputError("TRTASTAT", status, "ARM, NOTHING or OTHER")
    if status != "ARM" and _text(row, "TRTA"):
        raise InputError("TRTA", _text(row, "TRTA"), f"nothing, since TRTASTAT is {status}")
    if status == "NOTHING":
        return TOOK_NOTHING, None
    if status == "OTHER":
        return TOOK_OTHER, _text(row, "TRTAOTH") or None
    return _arm(sitting.design, "TRTA", row.get("TRTA")), None


def _arm(design: Design, column: str, name: Any) -> int:
    if name not in design.arms:
        raise InputError(column, name, nearest(str(name), design.arms))
    return design.arms.index(name)


def _probabilities(design: Design, row: Mapping[str, Any]) -> tuple[float, ...]:
    names = [f"PROB_{arm}" for arm in design.arms]
    if not all(_text(row, name) for name in names):
        return ()
    chances = tuple(_number(row, name, 0.0) for name in names)
    if min(chances) < 0.0 or abs(sum(chances) - 1.0) > 1e-6:
        raise InputError(", ".join(names), list(chances), "chances from 0 to 1 that add up to 1")
    return chances


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value)


def _number(row: Mapping[str, Any], column: str, otherwise: float) -> float:
    text = _text(row, column)
    try:
        number = float(text) if text else otherwise
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(column, text, "a number")
    return number


def _clock(row: Mapping[str, Any], column: str, now: Callable[[], datetime]) -> Callable[[], datetime]:
    value = row.get(column)
    if not value:
        return now
    try:
        when = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        raise InputError(column, value, "a time, e.g. 2026-03-01T09:30:00Z") from None
    return lambda: when if when.tzinfo else when.replace(tzinfo=UTC)
