"""Requests as values, and the steps of a call: the requests it sends and how it turns answers into a result."""

import re
import uuid
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

from adhere_client.errors import InputError

Result = TypeVar("Result")
_REQUEST_ID = re.compile("[!-~]{1,200}")
_RECOMMENDATION_ID = re.compile("[0-9A-Za-z -]*[0-9A-Za-z][0-9A-Za-z -]*")  # in any common way of typing it


@dataclass(frozen=True)
class Request(Generic[Result]):
    """A request: a method, a path, the type of the response and a body.

    A `repeatable` request is sent again if its answer was lost. Either it has an ID by which the service recognises
    it, or executing it twice changes nothing. Any other request is sent again only if it was certainly not executed.
    If the response is written `into` a file, the answer is the response's header X-Adhere-Head.
    """

    method: str
    path: str
    response: type[Result]
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    into: Path | None = None


class HttpResponse(NamedTuple):
    """A response: the status, the headers in lower case, and the body unless it was written to a file."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# A call yields requests, receives their decoded answers, and returns its result. Clients need no other knowledge.
Steps: TypeAlias = Generator[Request[Any], Any, Result]


def ask(request: Request[Result]) -> Steps[Result]:
    """Return the steps of a call that sends a single request."""
    answer: Result = yield request
    return answer


def get(path: str, response: type[Result]) -> Steps[Result]:
    """Return the steps of a call that reads from a path."""
    return ask(Request("GET", path, response))


def write(path: str, response: type[Result], body: Any, request_id: str | None) -> Steps[Result]:
    """Return the steps of a call that writes to a trial's log, under the caller's request ID or a new one."""
    if request_id is not None and not (isinstance(request_id, str) and _REQUEST_ID.fullmatch(request_id)):
        raise InputError("request_id", request_id, "1 to 200 visible ASCII characters without spaces")
    key = str(uuid.uuid4()) if request_id is None else request_id
    return ask(Request("POST", path, response, body, {"Idempotency-Key": key}))


def trial_path(trial: str, *rest: object) -> str:
    """Return the path of a trial or of a resource in it.

    >>> trial_path("Kopfweh & Co", "records")
    '/trials/Kopfweh%20%26%20Co/records'
    """
    if not isinstance(trial, str) or not trial:
        raise InputError("trial", trial, "the name of a trial")
    try:
        parts = [quote(str(part), safe="") for part in (trial, *rest)]
    except UnicodeEncodeError:
        raise InputError("trial", trial, "the name of a trial, in characters that can be sent") from None
    if trial in (".", ".."):  # otherwise it would be read as a relative path
        parts[0] = trial.replace(".", "%2E")
    return "/".join(["/trials", *parts])


def recommendation_path(trial: str, recommendation_id: str, *rest: str) -> str:
    """Return the path of a recommendation or of a resource in it.

    >>> recommendation_path("headache", "4K7T-9QXA-M98F-RJCB", "reports")
    '/trials/headache/recommendations/4K7T-9QXA-M98F-RJCB/reports'
    """
    if not isinstance(recommendation_id, str) or not _RECOMMENDATION_ID.fullmatch(recommendation_id):
        raise InputError(
            "recommendation", recommendation_id, "the ID of a recommendation, such as 4K7T-9QXA-M98F-RJCB"
        )
    return trial_path(trial, "recommendations", recommendation_id, *rest)


def list_of(field: str, values: Iterable[Any], of: str) -> list[Any]:
    """Return values as a list. A text is refused, because its letters would count as values."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(field, values, f"a list of {of}")
    return list(values)
