"""Calls that make a recommendation, record what followed it, or read recommendations."""

import math
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from adhere_client.errors import InputError
from adhere_client.request import Steps, get, list_of, recommendation_path, trial_path, write
from adhere_client.responses.recommendations import (
    IssuedRecommendation,
    ListedRecommendation,
    RecommendationDetails,
    RecommendationList,
    Recorded,
    Unblinding,
    WaitingPage,
)


def recommend(
    trial: str,
    subject: str,
    *,
    stratum: str | None = None,
    site: str | None = None,
    again: bool = False,
    refuse_alike: bool = False,
    request_id: str | None = None,
) -> Steps[IssuedRecommendation]:
    """Recommend an arm for a subject or, in a blinded trial, a kit. Give the stratum if the design has strata.

    An admin names the site if the trial has sites.

    If the design asks before a subject is entered a second time, the second entry is refused unless `again` is True.
    The `ConflictError` has the ID of the earlier recommendation (`recommendation_id`).

    With `refuse_alike`, a new subject is refused if the code looks like the code of another subject of the site. The
    `ConflictError` has the field "refuse_alike" and the ID of the other subject's recommendation.
    """
    given = {"stratum": stratum, "site": site, "again": again or None, "refuse_alike": refuse_alike or None}
    body = {"subject": subject} | {name: value for name, value in given.items() if value is not None}
    return write(trial_path(trial, "recommendations"), IssuedRecommendation, body, request_id)


def recommendation(trial: str, id: str) -> Steps[RecommendationDetails]:  # noqa: A002 (the name in the address)
    """Return a recommendation and its reports. Sites see fewer fields than admins."""
    return get(recommendation_path(trial, id), RecommendationDetails)


def report(
    trial: str,
    id: str,  # noqa: A002 (the name in the address)
    *,
    actual: str | None = None,
    took_nothing: bool = False,
    took_other: str | None = None,
    reward: float | None = None,
    happened: datetime | None = None,
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Report the arm taken, the reward, or both. `happened` is the time of the reported events (default: now).

    With `subject`, the report is refused if the recommendation belongs to another subject.
    """
    body = {
        "actual": actual,
        "took_nothing": took_nothing,
        "took_other": took_other,
        "reward": _reward(reward),
        "happened": happened,
        "subject": subject,
    }
    return write(recommendation_path(trial, id, "reports"), Recorded, body, request_id)


def correct(
    trial: str,
    id: str,  # noqa: A002 (the name in the address)
    reason: str,
    *,
    actual: str | None = None,
    took_nothing: bool = False,
    took_other: str | None = None,
    reward: float | None = None,
    retract: Sequence[str] = (),
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Correct a report. Items in `retract` ("actual", "reward", "withdrawal") then count as never reported."""
    body = {
        "reason": reason,
        "actual": actual,
        "took_nothing": took_nothing,
        "took_other": took_other,
        "reward": _reward(reward),
        "retract": list_of("retract", retract, 'the parts "actual", "reward", "withdrawal"'),
        "subject": subject,
    }
    return write(recommendation_path(trial, id, "corrections"), Recorded, body, request_id)


def withdraw(
    trial: str,
    id: str,  # noqa: A002 (the name in the address)
    reason: str,
    *,
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Mark a recommendation as lost to follow-up."""
    body = {"reason": reason, "subject": subject}
    return write(recommendation_path(trial, id, "withdrawal"), Recorded, body, request_id)


def mark_in_error(
    trial: str,
    id: str,  # noqa: A002 (the name in the address)
    reason: str,
    *,
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Mark a recommendation as entered in error: nobody was to be treated according to it.

    The call is refused if the recommendation has a report. Retract the report first (`correct`).
    """
    body = {"reason": reason, "subject": subject}
    return write(recommendation_path(trial, id, "error"), Recorded, body, request_id)


def unblind(
    trial: str,
    kit: str,
    reason: str,
    *,
    id: str | None = None,  # noqa: A002 (the name in the address)
    request_id: str | None = None,
) -> Steps[Unblinding]:
    """Unblind a kit. This is recorded.

    A site may unblind its own kits, and a kit that the subject of its recommendation `id` took.
    """
    body = {"kit": kit, "reason": reason} | ({} if id is None else {"recommendation_id": id})
    return write(trial_path(trial, "unblindings"), Unblinding, body, request_id)


def erase(trial: str, subject: str, *, site: str | None = None, request_id: str | None = None) -> Steps[Recorded]:
    """Erase a subject's identity."""
    return write(trial_path(trial, "erasures"), Recorded, {"site": site, "subject": subject}, request_id)


def waiting(trial: str) -> Steps[list[ListedRecommendation]]:
    """List the recommendations that await a report, oldest first. A site sees its own; other roles see all sites."""
    path = trial_path(trial, "waiting")
    page = yield from get(path, WaitingPage)
    found = page.waiting
    while page.next is not None:
        page = yield from get(f"{path}?after={page.next}", WaitingPage)
        found += page.waiting
    return found


def recommendations(trial: str, subject: str, *, site: str | None = None) -> Steps[list[ListedRecommendation]]:
    """List the recommendations of a subject with their states. An admin may name one site ("" for no site)."""
    found = yield from _find(trial, subject, site)
    return found.recommendations


def alike(trial: str, subject: str, *, site: str | None = None) -> Steps[list[ListedRecommendation]]:
    """List the latest recommendations of subjects with codes that look like a new code, which may be mistyped."""
    found = yield from _find(trial, subject, site)
    return list(found.alike)


def _find(trial: str, subject: str, site: str | None) -> Steps[RecommendationList]:
    query = urlencode({"subject": subject} | ({} if site is None else {"site": site}))
    return get(f"{trial_path(trial, 'recommendations')}?{query}", RecommendationList)


def _reward(reward: float | None) -> float | None:
    """Return a reward as a value that JSON allows; True and False become 1 and 0."""
    if reward is None:
        return None
    if not hasattr(reward, "__float__") or not math.isfinite(reward):  # JSON has no NaN, which would be sent as null
        raise InputError("reward", reward, "a number from 0 to 1")
    return float(reward)
