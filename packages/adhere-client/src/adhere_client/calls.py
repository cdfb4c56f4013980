"""Every call of the service, described once; `Client` and `AsyncClient` carry them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from adhere_client.answers import (
    Access,
    CheckedDesign,
    DerivedAgain,
    Design,
    Imputation,
    IssuedRecommendation,
    IssuedToken,
    ListedRecommendation,
    LogPage,
    Look,
    Monitor,
    PolicyDetails,
    RecommendationDetails,
    Recorded,
    Results,
    SignInLink,
    Simulation,
    TokenDetails,
    TrialDetails,
    TrialEnrolment,
    TrialLine,
    Verification,
)
from adhere_client.design_files import AnyDesign, fields_of, scenarios_of
from adhere_client.errors import InputError
from adhere_client.exploration import Exploration
from adhere_client.request import Request, Steps, ask, get, trial_path, write

_STRATUM = "three numbers: share, mean reward on control, mean reward on treatment"
_FORMATS = ("csv", "parquet", "log")
_ANALYSES = ("html", "json")


class _Created(msgspec.Struct):
    design: Design


class _TrialList(msgspec.Struct):
    trials: list[TrialLine]


class _PolicyList(msgspec.Struct):
    policies: list[PolicyDetails]


class _TokenList(msgspec.Struct):
    tokens: list[TokenDetails]


class _LookList(msgspec.Struct):
    looks: list[Look]


class _AccessPage(msgspec.Struct):
    accesses: list[Access]
    next: int | None = None


class _WaitingPage(msgspec.Struct):
    waiting: list[ListedRecommendation]
    next: int | None = None


class _RecommendationList(msgspec.Struct):
    recommendations: list[ListedRecommendation]
    alike: list[ListedRecommendation] = []


def create_trial(
    name: str,
    policy: object,
    arms: Sequence[str],
    *,
    n_patients: int | None = None,
    reward_values: Sequence[float] = (0.0, 1.0),
    blinded: bool = False,
    repeats: bool = False,
    impute: Mapping[str, Any] | Imputation | None = None,
    control: str | None = None,
    strata: Sequence[str] = (),
    update: str = "every patient",
    looks: Mapping[str, Any] | None = None,
    stopping: Mapping[str, Any] | None = None,
    estimands: Sequence[str] = ("intention-to-treat", "compliers"),
    enrolment: Mapping[str, Any] | None = None,
    delay: Mapping[str, Any] | None = None,
    missing: Mapping[str, Any] | None = None,
    rehearsal: bool = False,
    seed: int | None = None,
) -> Steps[Design]:
    """Create a trial; returns its design with all defaults filled in. The same again changes nothing.

    The seed is no part of the design. Without one it is drawn, and nobody is told; a blinded trial takes no other.
    """
    body = {
        "name": name,
        "policy": str(policy),
        "arms": _list("arms", arms, 'names, such as ["walk", "aspirin"]'),
        "n_patients": n_patients,
        "reward_values": _list("reward_values", reward_values, "numbers from 0 to 1"),
        "blinded": blinded,
        "repeats": repeats,
        "impute": dict(impute) if isinstance(impute, Mapping) else impute,
        "control": control,
        "strata": _list("strata", strata, 'names, such as ["under 60", "60 and over"]'),
        "update": update,
        "looks": looks,
        "stopping": stopping,
        "estimands": _list("estimands", estimands, 'names, such as ["intention-to-treat"]'),
        "enrolment": enrolment,
        "delay": delay,
        "missing": missing,
        "rehearsal": rehearsal,
        "seed": None if seed is None else str(seed),
    }
    created = yield from ask(Request("POST", "/trials", _Created, body))
    return created.design


def create_trial_from(design: AnyDesign, *, seed: int | None = None) -> Steps[Design]:
    """Create the trial of a design: a .toml or .json file, a mapping, or an `adhere.Design`.

    The rest as for `create_trial`.
    """
    body = {**fields_of(design), "seed": None if seed is None else str(seed)}
    created = yield from ask(Request("POST", "/trials", _Created, body))
    return created.design


def check_design(design: AnyDesign) -> Steps[CheckedDesign]:
    """Check a design, as for `create_trial_from`, without creating a trial."""
    return ask(Request("POST", "/designs", CheckedDesign, {"design": fields_of(design)}))


def start_simulation(
    design: AnyDesign, scenarios: Mapping[str, Any] | None = None, *, n_trials: int = 2_000, seed: int = 0
) -> Steps[Simulation]:
    """Simulate trials of a design in a grid of scenarios; left out, those in its file, or else a usual grid.

    It waits while another simulation of this token is not done.
    """
    table = scenarios_of(design) if scenarios is None else scenarios
    body = {"design": fields_of(design), "scenarios": _grid(table), "n_trials": n_trials, "seed": str(seed)}
    return ask(Request("POST", "/simulations", Simulation, body, repeatable=False))


def simulation(id: int) -> Steps[Simulation]:  # noqa: A002
    """How far a simulation is, and at its end the operating characteristics."""
    return get(f"/simulations/{id}", Simulation)


def stop_simulation(id: int) -> Steps[None]:  # noqa: A002
    """Stop a simulation that waits or runs; one that has ended is forgotten."""
    return ask(Request("DELETE", f"/simulations/{id}", type(None)))


def simulation_report(id: int, path: str | Path) -> Steps[None]:  # noqa: A002
    """Write the report on a simulation that is done to an HTML file."""
    return ask(Request("GET", f"/simulations/{id}/report", type(None), into=Path(path)))


def policies() -> Steps[list[PolicyDetails]]:
    """Every policy that a design may name."""
    found = yield from get("/policies", _PolicyList)
    return found.policies


def trials() -> Steps[dict[str, str]]:
    """The status of each trial (open, paused, closed), by name."""
    found = yield from get("/trials", _TrialList)
    return {line.name: line.status for line in found.trials}


def list_trials() -> Steps[list[TrialLine]]:
    """All trials: status, patients so far, reports awaited and compliance, as far as the token may see them."""
    found = yield from get("/trials", _TrialList)
    return found.trials


def trial(trial: str) -> Steps[TrialDetails]:
    """A trial: its design and status. A site and a coordinator see less."""
    return get(trial_path(trial), TrialDetails)


def recommend(
    trial: str, subject: str, *, stratum: str | None = None, request_id: str | None = None
) -> Steps[IssuedRecommendation]:
    """Recommend an arm, or in a blinded trial a kit, for a subject, of a stratum if the trial's design has strata."""
    body = {"subject": subject} | ({} if stratum is None else {"stratum": stratum})
    return write(trial_path(trial, "recommendations"), IssuedRecommendation, body, request_id)


def recommendation(trial: str, id: int) -> Steps[RecommendationDetails]:  # noqa: A002
    """A recommendation and its reports. A site sees less."""
    return get(trial_path(trial, "recommendations", id), RecommendationDetails)


def report(
    trial: str,
    id: int,  # noqa: A002
    *,
    actual: str | None = None,
    took_nothing: bool = False,
    took_other: str | None = None,
    reward: float | None = None,
    happened: datetime | None = None,
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Report the arm taken, the reward, or both; `happened` is when, of what is reported here (left out, now).

    With `subject`, it is refused unless the recommendation is theirs.
    """
    body = {
        "actual": actual,
        "took_nothing": took_nothing,
        "took_other": took_other,
        "reward": _reward(reward),
        "happened": happened,
        "subject": subject,
    }
    return write(trial_path(trial, "recommendations", id, "reports"), Recorded, body, request_id)


def correct(
    trial: str,
    id: int,  # noqa: A002
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
    """Correct a report; what `retract` lists ("actual", "reward") counts as never reported."""
    body = {
        "reason": reason,
        "actual": actual,
        "took_nothing": took_nothing,
        "took_other": took_other,
        "reward": _reward(reward),
        "retract": _list("retract", retract, 'the parts "actual", "reward"'),
        "subject": subject,
    }
    return write(trial_path(trial, "recommendations", id, "corrections"), Recorded, body, request_id)


def withdraw(
    trial: str,
    id: int,  # noqa: A002
    reason: str,
    *,
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Mark a recommendation as lost to follow-up."""
    body = {"reason": reason, "subject": subject}
    return write(trial_path(trial, "recommendations", id, "withdrawal"), Recorded, body, request_id)


def mark_in_error(
    trial: str,
    id: int,  # noqa: A002
    reason: str,
    *,
    subject: str | None = None,
    request_id: str | None = None,
) -> Steps[Recorded]:
    """Mark a recommendation as entered in error: a slip, by which nobody was to be treated.

    It is refused if something was reported of it, unless that is retracted first (`correct`).
    """
    body = {"reason": reason, "subject": subject}
    return write(trial_path(trial, "recommendations", id, "error"), Recorded, body, request_id)


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


def unblind(
    trial: str,
    kit: str,
    reason: str,
    *,
    id: int | None = None,  # noqa: A002
    request_id: str | None = None,
) -> Steps[IssuedRecommendation]:
    """Unblind a kit, which is recorded; a site its own, or one that the subject of its recommendation `id` took."""
    body = {"kit": kit, "reason": reason} | ({} if id is None else {"recommendation_id": id})
    return write(trial_path(trial, "unblindings"), IssuedRecommendation, body, request_id)


def erase(trial: str, subject: str, *, site: str | None = None, request_id: str | None = None) -> Steps[Recorded]:
    """Erase a subject's identity."""
    return write(trial_path(trial, "erasures"), Recorded, {"site": site, "subject": subject}, request_id)


def enrolment(trial: str) -> Steps[TrialEnrolment]:
    """Who was enrolled where and when, and what is still to be reported, of all sites."""
    return get(trial_path(trial, "enrolment"), TrialEnrolment)


def waiting(trial: str) -> Steps[list[ListedRecommendation]]:
    """The recommendations that await a report, oldest first: a site's own, or those of all sites."""
    path = trial_path(trial, "waiting")
    page = yield from get(path, _WaitingPage)
    found = page.waiting
    while page.next is not None:
        page = yield from get(f"{path}?after={page.next}", _WaitingPage)
        found += page.waiting
    return found


def recommendations(trial: str, subject: str, *, site: str | None = None) -> Steps[list[ListedRecommendation]]:
    """The recommendations of a subject and their state; an admin names the site too."""
    found = yield from _find(trial, subject, site)
    return found.recommendations


def alike(trial: str, subject: str, *, site: str | None = None) -> Steps[list[ListedRecommendation]]:
    """The latest recommendations of subjects whose codes look like a new one, which may be mistyped."""
    found = yield from _find(trial, subject, site)
    return found.alike


def _find(trial: str, subject: str, site: str | None) -> Steps[_RecommendationList]:
    query = urlencode({"subject": subject} | ({} if site is None else {"site": site}))
    return get(f"{trial_path(trial, 'recommendations')}?{query}", _RecommendationList)


def results(trial: str) -> Steps[Results]:
    """The results so far, for three analysis sets, with intervals."""
    return get(trial_path(trial, "results"), Results)


def looks(trial: str) -> Steps[list[Look]]:
    """The looks at a trial so far: what was found of each arm, and whether to stop, which `end_trial` confirms."""
    found = yield from get(trial_path(trial, "looks"), _LookList)
    return found.looks


def records(trial: str, *, after: int | None = None, before: int | None = None) -> Steps[LogPage]:
    """Up to 100 records of a trial's log in words: the last ones, those after a record, or those before it."""
    given = {"after": after, "before": before}
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return get(f"{trial_path(trial, 'records')}{'?' * bool(query)}{query}", LogPage)


def derive_again(trial: str, id: int) -> Steps[DerivedAgain]:  # noqa: A002
    """Derive a recommendation again from the log as it stood then; says whether the same comes out, and why."""
    return get(trial_path(trial, "recommendations", id, "derivation"), DerivedAgain)


def verify(trial: str) -> Steps[Verification]:
    """Verify a trial's log now: whether its chain of hashes is whole."""
    return get(trial_path(trial, "verification"), Verification)


def accesses(trial: str) -> Steps[list[Access]]:
    """Who read what of a trial: results and exports, and in a blinded trial all that reveals an arm."""
    path = trial_path(trial, "accesses")
    found: list[Access] = []
    after: int | None = 0
    while after is not None:
        page = yield from get(f"{path}?after={after}", _AccessPage)
        found += page.accesses
        after = page.next
    return found


def explore(
    preset: str = "rich-and-poor",
    *,
    strata: Mapping[str, Sequence[float]] | None = None,
    policies: Sequence[str] = (),
    patients: int = 1_000,
    runs: int = 1_000,
    seed: int = 0,
) -> Steps[Exploration]:
    """Who is fooled in a population of four strata, and how policies fare there, by simulated trials.

    `strata` replaces the preset's: {"compliers": (share, mean reward on control, on treatment), …}, of never-takers,
    always-takers, compliers and defiers.
    """
    query: dict[str, Any] = {"preset": preset, "patients": patients, "runs": runs, "seed": seed}
    for name, numbers in (strata or {}).items():
        word = name.replace("-", "_")
        values = _list("strata", numbers, _STRATUM)
        if len(values) != 3:
            raise InputError(f"strata, {name}", values, _STRATUM)
        query |= dict(zip((word, f"{word}_control", f"{word}_treatment"), values, strict=True))
    if policies:
        query["policies"] = ",".join(_list("policies", policies, 'policies, such as ["thompson"]'))
    return get(f"/explorations?{urlencode(query)}", Exploration)


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


def make_token(
    role: str,
    label: str,
    *,
    site: str | None = None,
    trial: str | None = None,
    expires_at: datetime | None = None,
) -> Steps[IssuedToken]:
    """Make a token.

    It has no request id: a call whose answer got lost is not repeated, since its token would be lost too.
    """
    body = {"role": role, "label": label, "site": site, "trial": trial, "expires_at": expires_at}
    return ask(Request("POST", "/tokens", IssuedToken, body, repeatable=False))


def rotate_token(
    id: int,  # noqa: A002
    *,
    overlap: timedelta = timedelta(0),
    expires_at: datetime | None = None,
) -> Steps[IssuedToken]:
    """Make a new token with the rights of a valid one, which ends after the overlap; not repeated either."""
    if not isinstance(overlap, timedelta):
        raise InputError("overlap", overlap, "a datetime.timedelta")
    body = {"overlap_seconds": int(overlap.total_seconds()), "expires_at": expires_at}
    return ask(Request("POST", f"/tokens/{id}/rotation", IssuedToken, body, repeatable=False))


def make_link(id: int, *, minutes: int = 60) -> Steps[SignInLink]:  # noqa: A002
    """Make a link by which the holder of a token signs in to the pages, once; not repeated either."""
    return ask(Request("POST", f"/tokens/{id}/links", SignInLink, {"minutes": minutes}, repeatable=False))


def tokens() -> Steps[list[TokenDetails]]:
    """All tokens, without their texts."""
    found = yield from get("/tokens", _TokenList)
    return found.tokens


def revoke_token(id: int) -> Steps[None]:  # noqa: A002
    """Revoke a token; once more changes nothing."""
    return ask(Request("DELETE", f"/tokens/{id}", type(None)))


def _grid(table: object) -> object:
    """A grid of scenarios; a single number may stand for a list of one."""
    if not isinstance(table, Mapping):
        return table
    lists = ("effect", "compliance", "confounding")
    return {
        name: [value] if name in lists and not isinstance(value, (list, tuple)) else value
        for name, value in table.items()
    }


def _list(field: str, values: Iterable[Any], of: str) -> list[Any]:
    """Several values; a text is one, and its letters would be taken for many."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(field, values, f"a list of {of}")
    return list(values)


def _reward(reward: float | None) -> float | None:
    """A reward as JSON can say it; True and False are 1 and 0."""
    if reward is None:
        return None
    if not hasattr(reward, "__float__") or not math.isfinite(reward):  # JSON has no NaN; it would be sent as null
        raise InputError("reward", reward, "a number from 0 to 1")
    return float(reward)
