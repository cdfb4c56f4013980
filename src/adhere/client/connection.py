"""Send requests to the service: JSON in and out, retries, and problem documents raised as exceptions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import urllib3
from urllib3.util import Retry

from adhere.errors import ConflictError, InputError, UnknownError

_RETRIED = (429, 502, 503, 504)  # statuses that pass after a while
_ERRORS: Mapping[int, type[InputError]] = {400: InputError, 404: UnknownError, 409: ConflictError, 422: InputError}
_MAX_PAUSE = 10.0  # seconds between two tries

Response = TypeVar("Response")


class ServiceError(Exception):
    """A request failed for another reason than its values: the status (0: no answer) and the reason."""

    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail
        super().__init__(f"{status}: {detail}" if status else detail)


class Connection:
    """Connections to the service, for the holder of a token."""

    def __init__(self, url: str, token: str, timeout: float, tries: int) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(timeout), maxsize=8)
        self._retry = Retry(
            total=tries,
            allowed_methods=None,  # every request may be repeated
            status_forcelist=_RETRIED,
            backoff_factor=0.1,
            backoff_max=_MAX_PAUSE,
            backoff_jitter=0.1,
            raise_on_status=False,
            redirect=0,
        )

    def get(self, path: str) -> dict[str, Any]:
        """A resource, decoded."""
        return self._json("GET", path, dict[str, Any])

    def post(self, path: str, kind: type[Response], body: Any, *, retry_lost: bool = True) -> Response:
        """Post a request that needs no id; with `retry_lost` also again if the answer was lost."""
        # After a 5xx the request may have been executed, and without a request id a second one would be executed too.
        retries = self._retry if retry_lost else self._retry.new(read=0, status_forcelist=(429,))
        return self._json("POST", path, kind, body, retries=retries)

    def write(self, path: str, kind: type[Response], body: Any, request_id: str | None) -> Response:
        """Post a request to a trial's log, under its id or a new one."""
        key = str(uuid.uuid4()) if request_id is None else request_id
        return self._json("POST", path, kind, body, {"Idempotency-Key": key})

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **options: Any
    ) -> urllib3.BaseHTTPResponse:
        """The response to a request; raises an exception for a problem."""
        sent = {**self._headers, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        data = None if body is None else msgspec.json.encode(body)
        options.setdefault("retries", self._retry)
        try:
            response = self._pool.request(method, self._url + path, body=data, headers=sent, **options)
        except (urllib3.exceptions.HTTPError, UnicodeError) as error:
            raise ServiceError(0, f"no answer from {self._url}: {error}") from None
        if response.status >= 300:
            raise _error_in(response)
        return response

    def _json(self, method: str, path: str, kind: type[Response], *arguments: Any, **options: Any) -> Response:
        response = self.send(method, path, *arguments, **options)
        try:
            return msgspec.json.decode(response.data, type=kind)
        except msgspec.DecodeError as error:
            raise ServiceError(response.status, f"an answer that adhere does not give: {error}") from None


def _error_in(response: urllib3.BaseHTTPResponse) -> Exception:
    try:
        problem = msgspec.json.decode(response.data, type=dict[str, Any])
    except msgspec.DecodeError:
        return ServiceError(response.status, f"{response.reason or 'an answer that adhere does not give'}")
    kind = _ERRORS.get(response.status)
    if kind is None or "expected" not in problem:
        return ServiceError(response.status, str(problem.get("detail") or problem.get("title")))
    return kind(str(problem.get("field")), problem.get("value"), str(problem["expected"]), str(problem["detail"]))
