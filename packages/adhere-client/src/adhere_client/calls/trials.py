"""Trials as a whole: what there is, pausing, ending, and who was enrolled."""

from __future__ import annotations

import msgspec

from adhere_client.answers.answer import Recorded
from adhere_client.answers.trials import Look, TrialDetails, TrialEnrolment, TrialLine
from adhere_client.request import Steps, get, trial_path, write


class _TrialList(msgspec.Struct):
    trials: list[TrialLine]


class _SiteList(msgspec.Struct):
    sites: list[str]


class _LookList(msgspec.Struct):
    looks: list[Look]


def trials() -> Steps[dict[str, str]]:
    """The status of each trial (open, paused, closed), by name."""
    found = yield from get("/trials", _TrialList)
    return {line.name: line.status for line in found.trials}


def sites(trial: str) -> Steps[list[str]]:
    """The sites that may use a trial, and those that entered subjects, by name. For admins."""
    found = yield from get(trial_path(trial, "sites"), _SiteList)
    return found.sites


def list_trials() -> Steps[list[TrialLine]]:
    """All trials: status, patients so far, reports awaited and compliance, as far as the token may see them."""
    found = yield from get("/trials", _TrialList)
    return found.trials


def trial(trial: str) -> Steps[TrialDetails]:
    """A trial: its design and status. A site and a coordinator see less."""
    return get(trial_path(trial), TrialDetails)


def pause(trial: str, reason: str, *, request_id: str | None = None) -> Steps[Recorded]:
    """Pause a trial, as when recruitment ends: nobody new gets a recommendation, reports are accepted."""
    return write(trial_path(trial, "pause"), Recorded, {"reason": reason}, request_id)


def resume(trial: str, reason: str, *, request_id: str | None = None) -> Steps[Recorded]:
    """Resume a trial."""
    return write(trial_path(trial, "resume"), Recorded, {"reason": reason}, request_id)


def end_trial(
    trial: str, reason: str, *, accept_open: bool = False, request_id: str | None = None
) -> Steps[Recorded]:
    """End a trial for good, when the last report is in: reports and corrections are refused from then on.

    While reports are awaited this is refused, unless `accept_open` gives them up.
    """
    body = {"reason": reason, "accept_open": accept_open}
    return write(trial_path(trial, "close"), Recorded, body, request_id)


def reveal(trial: str, reason: str, *, request_id: str | None = None) -> Steps[Recorded]:
    """Reveal the secret by which a closed trial drew its arms, so that anybody can draw them again from its log."""
    return write(trial_path(trial, "reveal"), Recorded, {"reason": reason}, request_id)


def enrolment(trial: str) -> Steps[TrialEnrolment]:
    """Who was enrolled where and when, and what is still to be reported, of all sites."""
    return get(trial_path(trial, "enrolment"), TrialEnrolment)


def looks(trial: str) -> Steps[list[Look]]:
    """The looks at a trial so far: what was found of each arm, and whether to stop, which `end_trial` confirms."""
    found = yield from get(trial_path(trial, "looks"), _LookList)
    return found.looks
