"""A request as a value, and the steps of a call: the requests it makes, and what it makes of their answers."""

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
_RECOMMENDATION_ID = re.compile("[0-9A-Za-z -]*[0-9A-Za-z][0-9A-Za-z -]*")  # however it was typed


@dataclass(frozen=True)
class Request(Generic[Result]):
    """A method, a path, the type of the response and a body.

    A request that is `repeatable` is sent again if its answer was lost: it has an id, by which the service knows it
    again, or changes nothing when executed twice. Of one that is not, only what was surely not executed is sent
    again. With a file to write `into`, the answer is the response's header X-Adhere-Head.
    """

    method: str
    path: str
    response: type[Result]
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    into: Path | None = None


class HttpResponse(NamedTuple):
    """A response as it came back: the status, the headers in lower case, and the body unless it went into a file."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# A call yields requests, is sent their decoded answers, and returns its result. Neither client needs to know more.
Steps: TypeAlias = Generator[Request[Any], Any, Result]


def ask(request: Request[Result]) -> Steps[Result]:
    """The steps of a call that is one request."""
    answer: Result = yield request
    return answer


def get(path: str, response: type[Result]) -> Steps[Result]:
    """Read something."""
    return ask(Request("GET", path, response))


def write(path: str, response: type[Result], body: Any, request_id: str | None) -> Steps[Result]:
    """Write to a trial's log, under an id of the caller or a new one."""
    if request_id is not None and not (isinstance(request_id, str) and _REQUEST_ID.fullmatch(request_id)):
        raise InputError("request_id", request_id, "1 to 200 visible ASCII characters without spaces")
    key = str(uuid.uuid4()) if request_id is None else request_id
    return ask(Request("POST", path, response, body, {"Idempotency-Key": key}))


def trial_path(trial: str, *rest: object) -> str:
    """The path of a trial or of something in it.

    >>> trial_path("Kopfweh & Co", "records")
    '/trials/Kopfweh%20%26%20Co/records'
    """
    if not isinstance(trial, str) or not trial:
        raise InputError("trial", trial, "the name of a trial")
    try:
        parts = [quote(str(part), safe="") for part in (trial, *rest)]
    except UnicodeEncodeError:
        raise InputError("trial", trial, "the name of a trial, in characters that can be sent") from None
    if trial in (".", ".."):  # would be taken for a relative path
        parts[0] = trial.replace(".", "%2E")
    return "/".join(["/trials", *parts])


def recommendation_path(trial: str, recommendation_id: str, *rest: str) -> str:
    """The path of a recommendation or of something about it.

    >>> recommendation_path("headache", "4K7T-9QXA-M98F-RJCB", "reports")
    '/trials/headache/recommendations/4K7T-9QXA-M98F-RJCB/reports'
    """
    if not isinstance(recommendation_id, str) or not _RECOMMENDATION_ID.fullmatch(recommendation_id):
        raise InputError(
            "recommendation", recommendation_id, "the ID of a recommendation, such as 4K7T-9QXA-M98F-RJCB"
        )
    return trial_path(trial, "recommendations", recommendation_id, *rest)


def list_of(field: str, values: Iterable[Any], of: str) -> list[Any]:
    """Several values; a text is one, and its letters would be taken for many."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(field, values, f"a list of {of}")
    return list(values)
