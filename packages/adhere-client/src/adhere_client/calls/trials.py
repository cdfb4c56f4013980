"""Calls that list, pause or end trials, or read their enrolment, results and logs."""

from pathlib import Path
from urllib.parse import urlencode

from adhere_client.errors import InputError
from adhere_client.request import Request, Steps, ask, get, recommendation_path, trial_path, write
from adhere_client.responses.log import Access, AccessPage, LogPage, Reproduction, Verification
from adhere_client.responses.monitor import Monitor
from adhere_client.responses.recommendations import Recorded
from adhere_client.responses.results import Results
from adhere_client.responses.trials import (
    Look,
    LookList,
    SiteList,
    TrialDetails,
    TrialEnrolment,
    TrialLine,
    TrialList,
)

_FORMATS = ("csv", "parquet", "log")
_ANALYSES = ("html", "json")


def trials() -> Steps[dict[str, str]]:
    """Return the status of each trial (open, paused or closed) by name."""
    found = yield from get("/trials", TrialList)
    return {line.name: line.status for line in found.trials}


def sites(trial: str) -> Steps[list[str]]:
    """List the sites that may use a trial or have entered subjects, by name. For admins only."""
    found = yield from get(trial_path(trial, "sites"), SiteList)
    return found.sites


def list_trials() -> Steps[list[TrialLine]]:
    """List all trials with status, patients so far, awaited reports and compliance, where the token may see them."""
    found = yield from get("/trials", TrialList)
    return found.trials


def trial(trial: str) -> Steps[TrialDetails]:
    """Return a trial's design and status. Sites and coordinators see fewer fields."""
    return get(trial_path(trial), TrialDetails)


def pause(trial: str, reason: str, *, request_id: str | None = None) -> Steps[Recorded]:
    """Pause a trial, for example when recruitment ends. New recommendations are refused; reports are accepted."""
    return write(trial_path(trial, "pause"), Recorded, {"reason": reason}, request_id)


def resume(trial: str, reason: str, *, request_id: str | None = None) -> Steps[Recorded]:
    """Resume a trial."""
    return write(trial_path(trial, "resume"), Recorded, {"reason": reason}, request_id)


def end_trial(
    trial: str, reason: str, *, accept_open: bool = False, request_id: str | None = None
) -> Steps[Recorded]:
    """End a trial permanently once the last report is in. Reports and corrections are refused from then on.

    The call is refused while reports are awaited, unless `accept_open` gives them up.
    """
    body = {"reason": reason, "accept_open": accept_open}
    return write(trial_path(trial, "close"), Recorded, body, request_id)


def reveal(trial: str, reason: str, *, request_id: str | None = None) -> Steps[Recorded]:
    """Reveal the secret with which a closed trial drew its arms, so that anybody can redraw them from its log."""
    return write(trial_path(trial, "reveal"), Recorded, {"reason": reason}, request_id)


def enrolment(trial: str) -> Steps[TrialEnrolment]:
    """Return the enrolment of all sites by day, and the number of reports still missing."""
    return get(trial_path(trial, "enrolment"), TrialEnrolment)


def looks(trial: str) -> Steps[list[Look]]:
    """List the looks at a trial so far: the findings on each arm, and whether to stop (`end_trial` confirms it)."""
    found = yield from get(trial_path(trial, "looks"), LookList)
    return found.looks


def results(trial: str) -> Steps[Results]:
    """Return the results so far for three analysis sets, with intervals."""
    return get(trial_path(trial, "results"), Results)


def monitor(trial: str) -> Steps[Monitor]:
    """Return the statistician's view of a running trial: the numbers of its analysis, now and over time."""
    return get(trial_path(trial, "monitor"), Monitor)


def analysis(trial: str, path: str | Path) -> Steps[str]:
    """Write a trial's analysis to a .html or .json file and return the hash of the last record it covers."""
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in _ANALYSES:
        raise InputError("path", str(path), "a file that ends in .html or .json")
    return ask(Request("GET", f"{trial_path(trial, 'analysis')}?format={form}", str, into=Path(path)))


def export(trial: str, path: str | Path, format: str | None = None) -> Steps[str]:  # noqa: A002 (the name in the query)
    """Export a trial to a file (csv, parquet or log) and return the hash of the last record in it.

    The default format follows from the file's suffix.
    """
    form = Path(path).suffix.removeprefix(".").lower() if format is None else format
    if form not in _FORMATS:
        what = "path" if format is None else "format"
        raise InputError(what, str(path) if format is None else format, f"one of {', '.join(_FORMATS)}")
    address = f"{trial_path(trial, 'export')}?{urlencode({'format': form})}"
    return ask(Request("GET", address, str, into=Path(path)))


def records(trial: str, *, after: int | None = None, before: int | None = None) -> Steps[LogPage]:
    """Return up to 100 records of a trial's log in words: the last records, or the records before or after one."""
    given = {"after": after, "before": before}
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return get(f"{trial_path(trial, 'records')}{'?' * bool(query)}{query}", LogPage)


def derive_again(trial: str, id: str) -> Steps[Reproduction]:  # noqa: A002 (the name in the address)
    """Derive a recommendation again from the log at that time, and return whether it agrees and how it came about."""
    return get(recommendation_path(trial, id, "derivation"), Reproduction)


def verify(trial: str) -> Steps[Verification]:
    """Verify now that the chain of hashes of a trial's log is intact."""
    return get(trial_path(trial, "verification"), Verification)


def accesses(trial: str) -> Steps[list[Access]]:
    """Return a trial's access log: reads of results and exports and, if blinded, every read that shows an arm."""
    path = trial_path(trial, "accesses")
    found: list[Access] = []
    after: int | None = 0
    while after is not None:
        page = yield from get(f"{path}?after={after}", AccessPage)
        found += page.accesses
        after = page.next
    return found
