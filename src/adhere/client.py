"""A client of the service: every call is tried again, under the same request id, until it is answered."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec
import urllib3
from urllib3.util import Retry

from adhere.errors import ConflictError, InputError, UnknownError

_PASSING = (429, 502, 503, 504)  # what is over after a while
_REFUSALS: Mapping[int, type[InputError]] = {400: InputError, 404: UnknownError, 409: ConflictError, 422: InputError}
_LONGEST_PAUSE = 10.0  # seconds between two tries

Answer = TypeVar("Answer")


class ServiceError(Exception):
    """The service did not do what was asked, for no fault in the values: the status (0: no answer) and why."""

    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail
        super().__init__(f"{status}: {detail}" if status else detail)


class Recommended(msgspec.Struct, frozen=True):
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


class Client:
    """The service at an address, for the holder of a token.

    A call that gets no answer, or is told to wait, is repeated with longer and longer pauses. Requests have ids of
    their own, so that one that was carried out although its answer got lost is not carried out twice. Give a
    `request_id` if the call itself may be repeated, say after a crash of the caller.

    ::

        client = Client("https://trials.example.org", token)
        advice = client.recommend("headache", "patient-17")
        client.report("headache", advice.id, actual=advice.arm, reward=1)

    What the service refuses is raised as an `InputError` (`UnknownError`, `ConflictError`), as by a trial at hand;
    everything else that goes wrong as a `ServiceError`.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, tries: int = 8) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(timeout), maxsize=8)
        self._retry = Retry(
            total=tries,
            allowed_methods=None,  # every request may be repeated
            status_forcelist=_PASSING,
            backoff_factor=0.1,
            backoff_max=_LONGEST_PAUSE,
            backoff_jitter=0.1,
            raise_on_status=False,
            redirect=0,
        )

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
        """Begin a trial; returns its design with all that was filled in. The same again changes nothing."""
        body = {
            "name": name,
            "policy": str(policy),
            "arms": list(arms),
            "seed": seed,
            "horizon": horizon,
            "reward_values": list(reward_values),
            "blinded": blinded,
            "repeats": repeats,
            "impute": dict(impute) if impute is not None else None,
        }
        made = self._json("POST", "/trials", dict[str, Any], body)
        return dict(made["design"])

    def trials(self) -> dict[str, str]:
        """How each trial stands (open, paused, closed), by name."""
        return {line["name"]: line["status"] for line in self._json("GET", "/trials", dict[str, Any])["trials"]}

    def trial(self, trial: str) -> dict[str, Any]:
        """A trial: its design and how it stands. A site is told less."""
        return self._json("GET", _path(trial), dict[str, Any])

    def recommend(self, trial: str, subject: str, *, request_id: str | None = None) -> Recommended:
        """An arm, in a blinded trial a kit, for a subject."""
        return self._write(_path(trial, "recommendations"), Recommended, {"subject": subject}, request_id)

    def recommendation(self, trial: str, id: int) -> dict[str, Any]:  # noqa: A002
        """A recommendation and what was reported of it. A site is told less."""
        return self._json("GET", _path(trial, "recommendations", id), dict[str, Any])

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
        """Say what was taken, what came of it, or both."""
        _check_reward(reward)
        body = {
            "actual": actual,
            "took_nothing": took_nothing,
            "took_other": took_other,
            "reward": reward,
            "happened": happened,
        }
        return self._write(_path(trial, "recommendations", id, "reports"), Recorded, body, request_id)

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
        """Give other values for what was reported; what is in `retract` ("actual", "reward") was never reported."""
        _check_reward(reward)
        body = {
            "reason": reason,
            "actual": actual,
            "took_nothing": took_nothing,
            "took_other": took_other,
            "reward": reward,
            "retract": list(retract),
        }
        return self._write(_path(trial, "recommendations", id, "corrections"), Recorded, body, request_id)

    def withdraw(self, trial: str, id: int, reason: str, *, request_id: str | None = None) -> Recorded:  # noqa: A002
        """Say that nothing more will be heard of a recommendation."""
        path = _path(trial, "recommendations", id, "withdrawal")
        return self._write(path, Recorded, {"reason": reason}, request_id)

    def pause(self, trial: str, reason: str, *, request_id: str | None = None) -> Recorded:
        """Recommend nothing for now."""
        return self._write(_path(trial, "pause"), Recorded, {"reason": reason}, request_id)

    def resume(self, trial: str, reason: str, *, request_id: str | None = None) -> Recorded:
        """Recommend again."""
        return self._write(_path(trial, "resume"), Recorded, {"reason": reason}, request_id)

    def close(self, trial: str, reason: str, *, request_id: str | None = None) -> Recorded:
        """End a trial for good."""
        return self._write(_path(trial, "close"), Recorded, {"reason": reason}, request_id)

    def unblind(self, trial: str, kit: str, reason: str, *, request_id: str | None = None) -> Recommended:
        """What is in a kit; that it was asked is recorded."""
        return self._write(_path(trial, "unblindings"), Recommended, {"kit": kit, "reason": reason}, request_id)

    def erase(self, trial: str, subject: str, *, site: str | None = None, request_id: str | None = None) -> Recorded:
        """Forget who a subject is."""
        return self._write(_path(trial, "erasures"), Recorded, {"site": site, "subject": subject}, request_id)

    def results(self, trial: str) -> dict[str, Any]:
        """What a trial has found so far, in three views, with intervals."""
        return self._json("GET", _path(trial, "results"), dict[str, Any])

    def export(self, trial: str, path: str | Path, format: str = "csv") -> str:  # noqa: A002
        """Write a trial to a file (csv, parquet, log); returns the hash of the last record in it."""
        address = f"{_path(trial, 'export')}?{urlencode({'format': format})}"
        answer = self._send("GET", address, None, {}, preload_content=False)
        try:
            with Path(path).open("wb") as file:
                for part in answer.stream(1 << 16):
                    file.write(part)
        except urllib3.exceptions.HTTPError as error:
            raise ServiceError(0, f"the export broke off: {error}") from None
        finally:
            answer.release_conn()
        return str(answer.headers["X-Adhere-Head"])

    def make_token(self, role: str, label: str, *, site: str | None = None, trial: str | None = None) -> IssuedToken:
        """Make a token.

        It has no request id: a call whose answer got lost is not repeated, since its token would be lost too.
        """
        body = {"role": role, "label": label, "site": site, "trial": trial}
        answer = self._send("POST", "/tokens", body, {}, retries=self._retry.new(read=0))
        return _decoded(answer, IssuedToken)

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens, without their texts."""
        return list(self._json("GET", "/tokens", dict[str, Any])["tokens"])

    def revoke_token(self, id: int) -> None:  # noqa: A002
        """Make a token useless from now on."""
        self._send("DELETE", f"/tokens/{id}", None, {})

    def _write(self, path: str, kind: type[Answer], body: Any, request_id: str | None) -> Answer:
        headers = {"Idempotency-Key": request_id if request_id is not None else str(uuid.uuid4())}
        return self._json("POST", path, kind, body, headers)

    def _json(
        self, method: str, path: str, kind: type[Answer], body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return _decoded(self._send(method, path, body, headers or {}), kind)

    def _send(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], **options: Any
    ) -> urllib3.BaseHTTPResponse:
        sent = {**self._headers, **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        data = None if body is None else msgspec.json.encode(body)
        options.setdefault("retries", self._retry)
        try:
            answer = self._pool.request(method, self._url + path, body=data, headers=sent, **options)
        except (urllib3.exceptions.HTTPError, UnicodeError) as error:
            raise ServiceError(0, f"no answer from {self._url}: {error}") from None
        if answer.status >= 300:
            raise _error_in(answer)
        return answer


def _path(trial: str, *rest: object) -> str:
    # A dot or two would be taken for a folder on the way.
    name = trial.replace(".", "%2E") if trial in (".", "..") else quote(trial, safe="")
    return "/".join(["/trials", name, *(quote(str(part), safe="") for part in rest)])


def _decoded(answer: urllib3.BaseHTTPResponse, kind: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(answer.data, type=kind)
    except msgspec.DecodeError as error:
        raise ServiceError(answer.status, f"an answer that adhere does not give: {error}") from None


def _error_in(answer: urllib3.BaseHTTPResponse) -> Exception:
    try:
        said = msgspec.json.decode(answer.data, type=dict[str, Any])
    except msgspec.DecodeError:
        return ServiceError(answer.status, f"{answer.reason or 'an answer that adhere does not give'}")
    kind = _REFUSALS.get(answer.status)
    if kind is None or "expected" not in said:
        return ServiceError(answer.status, str(said.get("detail") or said.get("title")))
    return kind(str(said.get("field")), said.get("value"), str(said["expected"]))


def _check_reward(reward: float | None) -> None:
    if reward is not None and not math.isfinite(reward):  # JSON has no word for it, and would say nothing instead
        raise InputError("reward", reward, "a number from 0 to 1")
