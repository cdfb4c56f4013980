"""Records to analyse, from whatever has them: a table, a frame, a log, a database of trials, or a trial in memory."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

from adhere.analysis.control import control_of
from adhere.analysis.records import Records
from adhere.errors import InputError
from adhere.frames import is_frame
from adhere.trial.events import created_event
from adhere.trial.log.records import trial_records
from adhere.trial.sources import is_table_file, one_trial
from adhere.trial.trial import Trial

_EXPECTED = (
    "a table (.csv, .csv.gz, .tsv, .parquet), a frame of polars, pandas or Arrow, a log, a file of trials,"
    " postgresql://…, or an adhere.Trial"
)
_SITE = ("site", "siteid")


def records_of(
    given: object, trial: str | None = None, *, control: str | None = None, **columns: str | None
) -> Records:
    """The records in whatever was given.

    Parameters
    ----------
    given
        A path or a frame of a table, the path of a log that `adhere trial export` or `Trial.save` wrote, or of a file
        of trials, an address `postgresql://…`, an `adhere.Trial`, or records themselves.
    trial
        Which trial, where there are several.
    control
        The arm that the others are compared with.
    columns
        Which column of a table is meant: `chosen`, `actual`, `reward`, `propensity`, `stratum`, `time`, `count`,
        `subject`, as `adhere.analysis.from_table.read_records` takes them. Of a log or a database of trials,
        `stratum="site"` makes each site a stratum.

    """
    named = {role: title for role, title in columns.items() if title is not None}
    if isinstance(given, (str, PathLike)):
        source = str(given).strip()
        if not is_table_file(source):
            return _with_control(_of_a_trial(source, trial, named), control)
    if is_frame(given) or isinstance(given, (str, PathLike)):
        from adhere.analysis.from_table import read_records

        if trial is not None:
            raise InputError("trial", trial, "no name of a trial: a table has one trial alone")
        return read_records(given, control=control, **named)
    for role, title in named.items():
        raise InputError(role, title, "a table: only there columns can be named")
    if isinstance(given, Trial):
        return _with_control(given.records(), control)
    if isinstance(given, Records):
        return _with_control(given, control)
    raise InputError("records", type(given).__name__, _EXPECTED)


def _of_a_trial(source: str, trial: str | None, columns: dict[str, str]) -> Records:
    by_site = columns.get("stratum", "").lower() in _SITE
    for role, title in columns.items():
        if role != "stratum" or not by_site:
            expected = "a table: only there columns can be named (of a log: stratum=site)"
            raise InputError(role, title, expected)
    with one_trial(source, trial, option="trial=… (--trial)") as found:
        design = created_event(found.view, found.number).design
        records = trial_records(found.view, found.number, design, by_site=by_site)
    where = "PostgreSQL" if "://" in source else source  # an address may hold a password
    return replace(records, source=f"trial {found.name} in {where}")


def _with_control(records: Records, control: str | None) -> Records:
    return records if control is None else replace(records, control=control_of(records.arms, control))
