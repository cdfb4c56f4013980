"""A trial as a table: one row per recommendation, with CDISC's column names where CDISC defines a column.

=========  ==========================================================================================
STUDYID    the trial                              SITEID    the site
USUBJID    trial/site/subject; after the subject was erased, the subject's key in the log
TRTP       the arm recommended (planned)          TRTA      the arm taken (actual)
TRTASTAT   the treatment's status: ARM, NOTHING (none of the arms), OTHER; empty if not reported
TRTAOTH    the other treatment, in words          AVAL      the reward
RANDDTM    time of the recommendation             TRTADTM   time of treatment (if not given: of the report)
ADTM       time of the outcome (if not given: of the report)
TRTADTYP   IMPUTED if TRTA is imputed             DTYPE     IMPUTED if AVAL is imputed
WITHDFL    Y if lost to follow-up                 INERRFL   Y if entered in error
PROPENS    the probability of TRTP                PROB_…    the probability of each arm
ESTFL      Y if they were estimated by drawing    FALLBACK  why arms had equal probabilities
RECOMMENDATION_ID
RECPOS     the recommendation's record            SEENPOS   the last record the policy had learned from
TRTAPOS    the record TRTA counts from            AVALPOS   the record AVAL counts from
MEMO       the policy's memo of the draw          ALGORITHM_VERSION, SOFTWARE
=========  ==========================================================================================

If the design has strata, the column STRATUM follows SITEID. In a rehearsal, the column REHEARSAL follows STUDYID and
contains Y in every row. If lower outcomes are better, the column LOWERFL follows these and contains Y in every row;
AVAL is the outcome itself.

In CSV, but not in Parquet, text that a spreadsheet would read as a formula is escaped (`adhere.csv_cells`).
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from adhere.csv_cells import ESCAPED_FORMULA, FORMULA, escape, unescape
from adhere.design.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.design.design import Design
from adhere.errors import InputError
from adhere.store import ReadTransaction
from adhere.trial.domain.events import AnyEvent, Corrected, Imputed, Recommended, Reported, decode
from adhere.trial.domain.history import History, evolve_history, history_of

_TEXT = pl.col(pl.String)


def escaped_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table ready to be written as CSV: headers and texts are escaped, numbers and times unchanged."""
    texts = pl.when(_TEXT.str.contains(FORMULA)).then(pl.lit("'") + _TEXT).otherwise(_TEXT)
    return table.with_columns(texts.name.keep()).rename(escape)


def unescaped_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table read from CSV with the escapes removed."""
    texts = pl.when(_TEXT.str.contains(ESCAPED_FORMULA)).then(_TEXT.str.slice(1)).otherwise(_TEXT)
    return table.with_columns(texts.name.keep()).rename(unescape)


AT_ONCE = 2000
_TIME = pl.Datetime("us", "UTC")
_STATUS = {TOOK_NOTHING: "NOTHING", TOOK_OTHER: "OTHER"}


def schema(design: Design) -> dict[str, Any]:
    """Return the columns and their types."""
    return {
        "STUDYID": pl.String,
        **({"REHEARSAL": pl.String} if design.rehearsal else {}),
        **({"LOWERFL": pl.String} if design.lower_is_better else {}),
        "SITEID": pl.String,
        **({"STRATUM": pl.String} if design.strata else {}),
        "USUBJID": pl.String,
        "TRTP": pl.String,
        "TRTA": pl.String,
        "TRTASTAT": pl.String,
        "TRTAOTH": pl.String,
        "AVAL": pl.Float64,
        "RANDDTM": _TIME,
        "TRTADTM": _TIME,
        "ADTM": _TIME,
        "TRTADTYP": pl.String,
        "DTYPE": pl.String,
        "WITHDFL": pl.String,
        "INERRFL": pl.String,
        "PROPENS": pl.Float64,
        **{f"PROB_{arm}": pl.Float64 for arm in design.arms},
        "ESTFL": pl.String,
        "RECOMMENDATION_ID": pl.String,
        "FALLBACK": pl.String,
        "RECPOS": pl.Int64,
        "SEENPOS": pl.Int64,
        "TRTAPOS": pl.Int64,
        "AVALPOS": pl.Int64,
        "MEMO": pl.String,
        "ALGORITHM_VERSION": pl.String,
        "SOFTWARE": pl.String,
    }


def tables(
    view: ReadTransaction, trial: int, design: Design, on_progress: Callable[[int], None] = lambda n: None
) -> Iterator[pl.DataFrame]:
    """Yield the table in parts of at most 2,000 rows."""
    who = {subject.key: subject.pseudonym for subject in view.subjects(trial)}
    notes = view.notes(trial)
    first = 0
    while bodies := view.histories(trial, range(first, first + AT_ONCE)):
        rows = [_row(design, [decode(body) for body in bodies[number]], who, notes) for number in sorted(bodies)]
        yield pl.DataFrame(rows, schema=schema(design), orient="row")
        first += AT_ONCE
        on_progress(len(rows))


def _row(
    design: Design, events: Sequence[AnyEvent], who: Mapping[str, str], notes: Mapping[int, tuple[bytes, str]]
) -> tuple[Any, ...]:
    made, history = events[0], history_of(events)
    assert isinstance(made, Recommended)
    taken = None if history.actual is None else int(history.actual.value)
    actual_from, reward_from = _source(events, "actual"), _source(events, "reward")
    other = notes.get(actual_from.position) if actual_from is not None and taken == TOOK_OTHER else None
    return (
        design.name,
        *(("Y",) if design.rehearsal else ()),
        *(("Y",) if design.lower_is_better else ()),
        made.site,
        *(() if made.stratum is None else (design.strata[made.stratum],)),
        f"{design.name}/{who.get(made.subject, made.subject)}",
        design.arms[made.chosen],
        design.arms[taken] if taken is not None and taken >= 0 else None,
        None if taken is None else _STATUS.get(taken, "ARM"),
        other and other[1],
        history.reward and history.reward.value,
        made.at,
        history.actual and _when(_source(events, "actual", corrections=False) or actual_from),
        history.reward and _when(_source(events, "reward", corrections=False) or reward_from),
        "IMPUTED" if history.actual and history.actual.imputed else None,
        "IMPUTED" if history.reward and history.reward.imputed else None,
        "Y" if history.withdrawn else None,
        "Y" if history.in_error else None,
        made.probabilities[made.chosen] if made.probabilities else None,
        *(made.probabilities or (None,) * len(design.arms)),
        "Y" if made.estimated else None,
        made.recommendation_id,
        made.fallback or None,
        made.position,
        made.learned_up_to,
        history.actual and history.actual.place,
        history.reward and history.reward.place,
        msgspec.json.encode(made.memo).decode(),
        made.algorithm_version,
        made.software,
    )


def _source(events: Sequence[AnyEvent], part: str, *, corrections: bool = True) -> AnyEvent | None:
    """Return the record that the current value of a part comes from. If `corrections` is False, return the latest
    report or imputation that changed the part.
    """
    history: History | None = None
    source: AnyEvent | None = None
    for event in events:
        before = getattr(history, part, None)
        history = evolve_history(history, event)
        if isinstance(event, Corrected):
            source = event if corrections and getattr(event, part) is not None else source
        elif isinstance(event, Reported | Imputed) and getattr(history, part) != before:
            source = event
    return source


def _when(event: AnyEvent | None) -> datetime | None:
    return None if event is None else getattr(event, "happened", None) or event.at


FORMATS = ("csv", "parquet", "log")


def write_table(
    view: ReadTransaction,
    trial: int,
    design: Design,
    path: Path,
    format: str,  # noqa: A002  (what everybody calls it)
    on_progress: Callable[[int], None] = lambda n: None,
) -> str:
    """Write a trial's table and return the hash of the log's head."""
    head = view.head(trial).hash.hex()
    some = chain([pl.DataFrame(schema=schema(design))], tables(view, trial, design, on_progress))
    if format == "csv":
        _write_csv(path, map(escaped_table, some))
    elif format == "parquet":
        # Rows go through a temporary file, so that memory use does not grow with the trial.
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.csv"
            _write_csv(rows, some)
            try:
                pl.scan_csv(rows, schema=schema(design)).sink_parquet(path)
            except pl.exceptions.PolarsError as error:  # Polars reports a full disk this way
                raise OSError(f"the Parquet file could not be written: {error}") from None
    else:
        raise InputError("format", format, f"one of {', '.join(FORMATS)}")
    return head


def _write_csv(path: Path, some: Iterable[pl.DataFrame]) -> None:
    """Write tables one below the other, with the header of the first."""
    with path.open("wb") as file:
        for number, table in enumerate(some):
            table.write_csv(file, include_header=number == 0, datetime_format="%Y-%m-%dT%H:%M:%S%.6fZ")
