"""A client of the service. Every call is retried under the same request id until it is answered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import urllib3

from adhere.client.connection import Connection, ServiceError
from adhere.errors import InputError
from adhere.files import replacing


class IssuedRecommendation(msgspec.Struct, frozen=True):
    """A recommendation: its number, and the arm or, in a blinded trial, the kit."""

    id: int = msgspec.field(name="recommendation_id")
    arm: str | None = None
    kit: str | None = None


class Recorded(msgspec.Struct, frozen=True):
    """Where in the trial's log something was written, and about which recommendation."""

    record: int
    recommendation_id: int | None = None


class IssuedToken(msgspec.Struct, frozen=True):
    """A new token, whose text is never shown again."""

    id: int
    token: str
    role: str
    label: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None


class Client:
    """The service at an address, for the holder of a token.

    A call that gets no answer, or is asked to wait, is retried with longer and longer pauses. Each request has an id,
    so that one that was executed although its answer was lost is not executed twice. Give a `request_id` if the call
    itself may be repeated, say after a crash of the caller.

    ::

        client = Client("https://trials.example.org", token)
        recommendation = client.recommend("headache", "patient-17")
        client.report("headache", recommendation.id, actual=recommendation.arm, reward=1)

    What the service refuses is raised as an `InputError` (`UnknownError`, `ConflictError`), as by a local trial;
    everything else that goes wrong as a `ServiceError`.

    Parameters
    ----------
    url
        The address of the service.
    token
        A token of the service; its role decides what may be called.
    timeout
        Seconds to wait for an answer.
    tries
        How often a call is retried.

    """

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, tries: int = 8) -> None:
        self._connection = Connection(url, token, timeout, tries)

    def create_trial(
        self,
        name: str,
        policy: object,
        arms: Sequence[str],
        *,
        seed: int | None = None,
        horizon: int | None = None,
        reward_values: Sequence[float] = (0.0, 1.0),
        blinded: bool = False,
        repeats: bool = False,
        impute: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Create a trial; returns its design with all defaults filled in. The same again changes nothing.

        Without a seed a random one is drawn; a blinded trial takes no other.
        """
        body = {
            "name": name,
            "policy": str(policy),
            "arms": list(arms),
            "seed": None if seed is None else str(seed),
            "horizon": horizon,
            "reward_values": list(reward_values),
            "blinded": blinded,
            "repeats": repeats,
            "impute": dict(impute) if impute is not None else None,
        }
        made = self._connection.post("/trials", dict[str, Any], body)
        return dict(made["design"])

    def trials(self) -> dict[str, str]:
        """The status of each trial (open, paused, closed), by name."""
        return {line["name"]: line["status"] for line in self._connection.get("/trials")["trials"]}

    def trial(self, trial: str) -> dict[str, Any]:
        """A trial: its design and status. A site sees less."""
        return self._connection.get(_path(trial))

    def recommend(self, trial: str, subject: str, *, request_id: str | None = None) -> IssuedRecommendation:
        """Recommend an arm, or in a blinded trial a kit, for a subject."""
        path = _path(trial, "recommendations")
        return self._connection.write(path, IssuedRecommendation, {"subject": subject}, request_id)

    def recommendation(self, trial: str, id: int) -> dict[str, Any]:  # noqa: A002
        """A recommendation and its reports. A site sees less."""
        return self._connection.get(_path(trial, "recommendations", id))

    def report(
        self,
        trial: str,
        id: int,  # noqa: A002
        *,
        actual: str | None = None,
        took_nothing: bool = False,
        took_other: str | None = None,
        reward: float | None = None,
        happened: datetime | None = None,
        request_id: str | None = None,
    ) -> Recorded:
        """Report the arm taken, the reward, or both."""
        _check_reward(reward)
        body = {
            "actual": actual,
            "took_nothing": took_nothing,
            "took_other": took_other,
            "reward": reward,
            "happened": happened,
        }
        return self._connection.write(_path(trial, "recommendations", id, "reports"), Recorded, body, request_id)

    def correct(
        self,
        trial: str,
        id: int,  # noqa: A002
        reason: str,
        *,
        actual: str | None = None,
        took_nothing: bool = False,
        took_other: str | None = None,
        reward: float | None = None,
        retract: Sequence[str] = (),
        request_id: str | None = None,
    ) -> Recorded:
        """Correct a report; what `retract` lists ("actual", "reward") counts as never reported."""
        _check_reward(reward)
        body = {
            "reason": reason,
            "actual": actual,
            "took_nothing": took_nothing,
            "took_other": took_other,
            "reward": reward,
            "retract": list(retract),
        }
        return self._connection.write(_path(trial, "recommendations", id, "corrections"), Recorded, body, request_id)

    def withdraw(self, trial: str, id: int, reason: str, *, request_id: str | None = None) -> Recorded:  # noqa: A002
        """Mark a recommendation as lost to follow-up."""
        path = _path(trial, "recommendations", id, "withdrawal")
        return self._connection.write(path, Recorded, {"reason": reason}, request_id)

    def pause(self, trial: str, reason: str, *, request_id: str | None = None) -> Recorded:
        """Pause a trial."""
        return self._connection.write(_path(trial, "pause"), Recorded, {"reason": reason}, request_id)

    def resume(self, trial: str, reason: str, *, request_id: str | None = None) -> Recorded:
        """Resume a trial."""
        return self._connection.write(_path(trial, "resume"), Recorded, {"reason": reason}, request_id)

    def close(self, trial: str, reason: str, *, request_id: str | None = None) -> Recorded:
        """Close a trial for good."""
        return self._connection.write(_path(trial, "close"), Recorded, {"reason": reason}, request_id)

    def unblind(self, trial: str, kit: str, reason: str, *, request_id: str | None = None) -> IssuedRecommendation:
        """Unblind a kit, which is recorded."""
        body = {"kit": kit, "reason": reason}
        return self._connection.write(_path(trial, "unblindings"), IssuedRecommendation, body, request_id)

    def erase(self, trial: str, subject: str, *, site: str | None = None, request_id: str | None = None) -> Recorded:
        """Erase a subject's identity."""
        body = {"site": site, "subject": subject}
        return self._connection.write(_path(trial, "erasures"), Recorded, body, request_id)

    def results(self, trial: str) -> dict[str, Any]:
        """The results so far, in three views, with intervals."""
        return self._connection.get(_path(trial, "results"))

    def accesses(self, trial: str) -> list[dict[str, Any]]:
        """Who read what of a trial: results and exports, and in a blinded trial all that reveals an arm."""
        found: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = self._connection.get(f"{_path(trial, 'accesses')}?after={after}")
            found += page["accesses"]
            after = page.get("next")
        return found

    def export(self, trial: str, path: str | Path, format: str = "csv") -> str:  # noqa: A002
        """Write a trial to a file (csv, parquet, log); returns the hash of the last record in it."""
        address = f"{_path(trial, 'export')}?{urlencode({'format': format})}"
        response = self._connection.send("GET", address, preload_content=False)
        try:
            with replacing(Path(path), private=True) as temporary, temporary.open("wb") as file:
                for part in response.stream(1 << 16):
                    file.write(part)
        except urllib3.exceptions.HTTPError as error:
            raise ServiceError(0, f"the export broke off: {error}") from None
        finally:
            response.release_conn()
        return str(response.headers["X-Adhere-Head"])

    def make_token(
        self,
        role: str,
        label: str,
        *,
        site: str | None = None,
        trial: str | None = None,
        expires_at: datetime | None = None,
    ) -> IssuedToken:
        """Make a token.

        It has no request id: a call whose answer got lost is not repeated, since its token would be lost too.
        """
        body = {"role": role, "label": label, "site": site, "trial": trial, "expires_at": expires_at}
        return self._connection.post("/tokens", IssuedToken, body, retry_lost=False)

    def rotate_token(
        self,
        id: int,  # noqa: A002
        *,
        overlap: timedelta = timedelta(0),
        expires_at: datetime | None = None,
    ) -> IssuedToken:
        """Make a new token with the rights of a valid one, which ends after the overlap; not repeated either."""
        body = {"overlap_seconds": int(overlap.total_seconds()), "expires_at": expires_at}
        return self._connection.post(f"/tokens/{id}/rotation", IssuedToken, body, retry_lost=False)

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens, without their texts."""
        return list(self._connection.get("/tokens")["tokens"])

    def revoke_token(self, id: int) -> None:  # noqa: A002
        """Revoke a token."""
        self._connection.send("DELETE", f"/tokens/{id}")


def _path(trial: str, *rest: object) -> str:
    # A dot or two would be taken for a relative path.
    name = trial.replace(".", "%2E") if trial in (".", "..") else quote(trial, safe="")
    return "/".join(["/trials", name, *(quote(str(part), safe="") for part in rest)])


def _check_reward(reward: float | None) -> None:
    if reward is not None and not math.isfinite(reward):  # JSON has no NaN; it would be encoded as null
        raise InputError("reward", reward, "a number from 0 to 1")
