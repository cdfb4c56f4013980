"""What a trial has found so far, to look at or in a file."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from adhere_client.answers.results import Monitor, Results
from adhere_client.errors import InputError
from adhere_client.request import Request, Steps, ask, get, trial_path

_FORMATS = ("csv", "parquet", "log")
_ANALYSES = ("html", "json")


def results(trial: str) -> Steps[Results]:
    """The results so far, for three analysis sets, with intervals."""
    return get(trial_path(trial, "results"), Results)


def monitor(trial: str) -> Steps[Monitor]:
    """A trial as a statistician watches it: numbers as in its analysis, now and over time."""
    return get(trial_path(trial, "monitor"), Monitor)


def analysis(trial: str, path: str | Path) -> Steps[str]:
    """Write a trial's analysis to a file that ends in .html or .json; returns the hash of the last record in it."""
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in _ANALYSES:
        raise InputError("path", str(path), "a file that ends in .html or .json")
    return ask(Request("GET", f"{trial_path(trial, 'analysis')}?format={form}", str, into=Path(path)))


def export(trial: str, path: str | Path, format: str | None = None) -> Steps[str]:  # noqa: A002
    """Write a trial to a file (csv, parquet, log); returns the hash of the last record in it.

    Without a format, the file's ending says which.
    """
    form = Path(path).suffix.removeprefix(".").lower() if format is None else format
    if form not in _FORMATS:
        what = "path" if format is None else "format"
        raise InputError(what, str(path) if format is None else format, f"one of {', '.join(_FORMATS)}")
    address = f"{trial_path(trial, 'export')}?{urlencode({'format': form})}"
    return ask(Request("GET", address, str, into=Path(path)))
