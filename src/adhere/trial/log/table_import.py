"""A table of recommendations read into a trial of its own: one that `export` wrote, or one with the same columns.

A table without the memo of each recommendation (MEMO) can be imported only for policies that have none. The policy
learns from the rows in the order of their records or, without those, in that of the table. Nothing is drawn, so
replay has nothing to derive again and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from adhere.checks import check_text
from adhere.csv_cells import is_missing, reward_in
from adhere.errors import InputError, nearest
from adhere.frames import Frame, arm_text, is_frame
from adhere.store import Store
from adhere.trial.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.trial.creation import create_trial
from adhere.trial.design import Design
from adhere.trial.events import Imputed, Recommended, Reported, Withdrawn
from adhere.trial.log.chain import commitment
from adhere.trial.log.csv_tables import unescaped_table
from adhere.trial.lookups import new_salt, new_subject
from adhere.trial.transaction import TrialTransaction
from adhere.trial.verbs.context import Change

_ALSO_CALLED = {
    "subject": "USUBJID",
    "site": "SITEID",
    "chosen": "TRTP",
    "ARM": "TRTP",
    "actual": "TRTA",
    "ACTARM": "TRTA",
    "reward": "AVAL",
}

_DATES, _FLAGS = ("RANDDTM", "TRTADTM", "ADTM"), ("TRTADTYP", "DTYPE", "WITHDFL")
_MAY_BE_MISSING = ("USUBJID", "TRTP", "TRTA", "TRTASTAT", "AVAL", *_DATES, *_FLAGS)


class _Step(NamedTuple):
    """An event that a row stands for, and its place in the order of all."""

    order: tuple[float, int, int]
    row: int
    what: str


def read_table(given: object) -> pl.DataFrame:
    """A CSV or Parquet file, or a frame, with CDISC's or adhere's own names of columns."""
    table = _from_frame(Frame(given)) if is_frame(given) else _from_file(Path(str(given)))
    given_columns = table.columns
    _check_spelling(given_columns)
    for old, new in _ALSO_CALLED.items():
        if old in table.columns:
            if new in table.columns:
                raise InputError("columns", f"{old} and {new}", "only one of them: they mean the same")
            table = table.rename({old: new})
    for column in ("USUBJID", "TRTP"):
        if column not in table.columns:
            expected = f"at least USUBJID (subject) and TRTP (chosen); {column} is missing"
            raise InputError("columns", ", ".join(given_columns), expected)
    return _without_words_for_missing(table)


def _check_spelling(columns: list[str]) -> None:
    """Refuse a slip in one of adhere's own names; others' columns, and CDISC's many variables, are left alone."""
    own = [name for name in _ALSO_CALLED if name.islower() and name not in columns]
    for column in columns:
        if column.isupper() or column in _ALSO_CALLED:
            continue
        for close in get_close_matches(column.lower(), own, n=1, cutoff=0.8):
            raise InputError("columns", column, close, f"unknown column {column!r}; did you mean {close!r}?")


def _without_words_for_missing(table: pl.DataFrame) -> pl.DataFrame:
    """NA and the like made null, but where a column PROB_… says that an arm is called so."""
    listed = {column.removeprefix("PROB_") for column in table.columns if column.startswith("PROB_")}
    for column in {*_MAY_BE_MISSING, *(f"PROB_{arm}" for arm in listed)}.intersection(table.columns):
        values = table[column]
        if values.dtype == pl.String:
            arms = listed if column in ("TRTP", "TRTA") else set()
            words = [word for word in values.drop_nulls().unique() if is_missing(word) and word not in arms]
            table = table.with_columns(pl.when(~pl.col(column).is_in(words)).then(pl.col(column)).alias(column))
        elif values.dtype.is_float():
            table = table.with_columns(pl.col(column).fill_nan(None))
    return table


def _from_file(path: Path) -> pl.DataFrame:
    try:
        is_parquet = path.suffix.lower() == ".parquet"
        return pl.read_parquet(path) if is_parquet else unescaped_table(pl.read_csv(path, infer_schema=False))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("file", str(path), f"a table in CSV or Parquet ({str(error).splitlines()[0]})") from None


def _from_frame(frame: Frame) -> pl.DataFrame:
    columns = {title: frame.values(title) for title in frame.titles}
    for title in set(columns) & {
        "TRTP",
        "TRTA",
        *(old for old, new in _ALSO_CALLED.items() if new in ("TRTP", "TRTA")),
    }:
        columns[title] = [arm_text(value) or None for value in columns[title]]
    return pl.DataFrame([pl.Series(title, values, strict=False) for title, values in columns.items()])


def arms_in(table: pl.DataFrame) -> list[str]:
    """The arms a table recommends, in the order of its columns of probabilities or, without those, of the alphabet.

    Not those that were only taken: they may be a slip, or none of the trial's arms.
    """
    listed = [column.removeprefix("PROB_") for column in table.columns if column.startswith("PROB_")]
    return listed or sorted(table["TRTP"].drop_nulls().unique())


def rewards_in(table: pl.DataFrame) -> list[float]:
    """Every reward a table holds."""
    values = table["AVAL"].drop_nulls().unique().to_list() if "AVAL" in table.columns else []
    return [_number({"AVAL": value}, "AVAL", 0.0, reward_in) for value in values if value != ""]


def import_table(
    table: pl.DataFrame,
    store: Store,
    design: Design,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    on_progress: Callable[[int], None] = lambda n: None,
) -> int:
    """Create a trial with everything a table says of it; returns the number of records."""
    design.engine().load()
    rows = table.to_dicts()
    with store.writing() as writing:
        transaction = create_trial(writing, design, now(), "import")
        for step in sorted(step for number, row in enumerate(rows) for step in _steps(number, row)):
            try:
                transaction.append(_change(transaction, rows[step.row], step.what, now))
            except InputError as error:
                raise InputError(f"row {step.row + 1}, {error.field}", error.value, error.expected) from None
            on_progress(step.what == "recommended")
        transaction.finish()
        return transaction.state.position


def _steps(number: int, row: Mapping[str, Any]) -> list[_Step]:
    start = _number(row, "RECPOS", number)
    steps = [_Step((start, number, 0), number, "recommended")]
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
            steps.append(_Step((at, number, turn), number, f"{kind} {' '.join(said)}"))
    if _text(row, "WITHDFL").upper() == "Y":
        steps.append(_Step((float("inf"), number, 3), number, "withdrawn"))
    return steps


def _kind(row: Mapping[str, Any], part: str) -> str:
    return "imputed" if _text(row, _IMPUTED[part]).upper() == "IMPUTED" else "reported"


_IMPUTED = {"actual": "TRTADTYP", "reward": "DTYPE"}


def _change(transaction: TrialTransaction, row: dict[str, Any], what: str, now: Callable[[], datetime]) -> Change:
    kind, *parts = what.split()
    state = transaction.state
    if kind == "recommended":
        row["_id"] = state.n_recommendations
        return _recommended(transaction, row, _time(row, "RANDDTM", now))
    stamp = {"position": state.position + 1, "by": "import", "recommendation_id": row["_id"]}
    if kind == "withdrawn":
        return Change(Withdrawn(**stamp, at=now(), reason="imported"))
    at = _time(row, "TRTADTM" if "actual" in parts else "ADTM", now)
    actual, other = _taken(state.design, row) if "actual" in parts else (None, None)
    reward = state.engine.check_reward(_number(row, "AVAL", 0.0, reward_in)) if "reward" in parts else None
    if kind == "imputed":
        return Change(Imputed(**stamp, at=at, actual=actual, reward=reward))
    if other is None:
        return Change(Reported(**stamp, at=at, actual=actual, reward=reward))
    salt = new_salt()
    event = Reported(**stamp, at=at, actual=actual, reward=reward, text=commitment(salt, other))
    return Change(event, note=(salt, other))


def _recommended(transaction: TrialTransaction, row: Mapping[str, Any], at: datetime) -> Change:
    state = transaction.state
    memo_size, memo, fallback = state.engine.memo_size, _memo(row), _text(row, "FALLBACK")
    if len(memo) != memo_size and not fallback:
        expected = f"the {memo_size} numbers that {state.engine.policy} remembers of a recommendation"
        raise InputError("MEMO", list(memo), expected)
    site = _text(row, "SITEID")
    name = _text(row, "USUBJID").removeprefix(f"{_text(row, 'STUDYID')}/")
    pseudonym = name if name.startswith(f"{site}/") else f"{site}/{check_text('USUBJID', name)}"
    subject = transaction.subject(pseudonym) or new_subject(pseudonym)
    event = Recommended(
        position=state.position + 1,
        at=at,
        by="import",
        recommendation_id=state.n_recommendations,
        subject=subject.key,
        site=site,
        learned_up_to=state.position,
        chosen=_arm(state.design, "TRTP", row["TRTP"]),
        probabilities=_probabilities(state.design, row),
        memo=memo,
        estimated=_text(row, "ESTFL") == "Y",
        key=_text(row, "RANDKEY"),
        algorithm_version=_text(row, "ALGORITHM_VERSION"),
        software=_text(row, "SOFTWARE"),
        fallback=fallback,
        imported=True,
    )
    return Change(event, subject._replace(latest=event.recommendation_id))


def _memo(row: Mapping[str, Any]) -> tuple[float, ...]:
    text = _text(row, "MEMO") or "[]"
    try:
        return msgspec.json.decode(text, type=tuple[float, ...])
    except msgspec.DecodeError:
        raise InputError("MEMO", text, "a list of numbers, e.g. [0.5, 1]") from None


def _taken(design: Design, row: Mapping[str, Any]) -> tuple[int, str | None]:
    status = _text(row, "TRTASTAT").upper() or "ARM"
    if status not in ("ARM", "NOTHING", "OTHER"):
        raise InputError("TRTASTAT", status, "ARM, NOTHING or OTHER")
    if status != "ARM" and _text(row, "TRTA"):
        raise InputError("TRTA", _text(row, "TRTA"), f"nothing, since TRTASTAT is {status}")
    if status == "NOTHING":
        return TOOK_NOTHING, None
    if status == "OTHER":
        return TOOK_OTHER, _text(row, "TRTAOTH") or None
    name = row.get("TRTA")
    if name not in design.arms:
        hint = "who took none of these has an empty TRTA and TRTASTAT NOTHING or OTHER"
        expected = f"{nearest(str(name), design.arms)}; {hint}; arms that nobody was given are listed with --arms"
        raise InputError("TRTA", name, expected)
    return _arm(design, "TRTA", name), None


def _arm(design: Design, column: str, name: Any) -> int:
    if name not in design.arms:
        raise InputError(column, name, nearest(str(name), design.arms))
    return design.arms.index(name)


def _probabilities(design: Design, row: Mapping[str, Any]) -> tuple[float, ...]:
    names = [f"PROB_{arm}" for arm in design.arms]
    if not all(_text(row, name) for name in names):
        return ()
    values = tuple(_number(row, name, 0.0) for name in names)
    if min(values) < 0.0 or abs(sum(values) - 1.0) > 1e-6:
        raise InputError(", ".join(names), list(values), "probabilities from 0 to 1 that add up to 1")
    return values


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value)


def _number(
    row: Mapping[str, Any], column: str, otherwise: float, number_in: Callable[[str], float] = float
) -> float:
    text = _text(row, column)
    try:
        number = number_in(text) if text else otherwise
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(column, text, "a number, true or false" if number_in is reward_in else "a number")
    return number


def _time(row: Mapping[str, Any], column: str, now: Callable[[], datetime]) -> datetime:
    value = row.get(column)
    if not value:
        return now()
    try:
        when = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        raise InputError(column, value, "a time, e.g. 2026-03-01T09:30:00Z") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
