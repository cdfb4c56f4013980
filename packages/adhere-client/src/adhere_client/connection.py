"""The base of both clients: it encodes requests and turns responses into results or exceptions."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import msgspec

from adhere_client.address import bearer, parse_address
from adhere_client.attempts import Attempts
from adhere_client.errors import ConflictError, InputError, ServiceError, UnknownError
from adhere_client.request import HttpResponse, Request, Result

_ERRORS: Mapping[int, type[InputError]] = {400: InputError, 404: UnknownError, 409: ConflictError, 422: InputError}
_CONNECT_TIMEOUT = 10.0
_MAX_IDLE = 8  # idle connections that stay open


class Connection:
    """The address, the token and the options of a client."""

    # adhere.Client raises adhere's own exceptions, which are subclasses of the client's.
    _own_errors: ClassVar[Mapping[type[InputError], type[InputError]]] = {}

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, tries: int = 8) -> None:
        import httpcore  # imported here so that importing this package is fast

        # The exceptions that mean that no answer came.
        self._failures = httpcore.NetworkError, httpcore.TimeoutException, httpcore.RemoteProtocolError
        with self._raising_own():
            self._address = parse_address(url)
            self._authorization = bearer(token)
            if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
                raise InputError("timeout", timeout, "a number of seconds greater than 0")
            if isinstance(tries, bool) or not isinstance(tries, int) or tries < 0:
                raise InputError("tries", tries, "a whole number, 0 or more")
        self._timeout = {"connect": min(timeout, _CONNECT_TIMEOUT), "read": timeout, "write": timeout}
        self._tries = tries
        self._was_up = False
        self._closed = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._address.text!r})"

    def _pool_options(self) -> dict[str, Any]:
        tls = None
        if self._address.scheme == b"https":
            import ssl

            tls = ssl.create_default_context()  # the system's certificates, or the certificates in $SSL_CERT_FILE
        return {"ssl_context": tls, "max_connections": None, "max_keepalive_connections": _MAX_IDLE}

    def _attempts(self, request: Request[Any]) -> Attempts:
        if self._closed:
            raise RuntimeError(f"this client of {self._address.text} was closed")
        return Attempts(request, self._address.text, self._tries, was_up=self._was_up)

    def _encode(self, request: Request[Any]) -> dict[str, Any]:
        """Return the arguments with which httpcore sends a request."""
        import httpcore

        address = self._address
        headers = [
            (b"Host", address.host_header),
            (b"Authorization", self._authorization),
            (b"Accept", b"application/json" if request.into is None else b"*/*"),
            (b"User-Agent", b"adhere-client"),
            *((name.encode(), value.encode()) for name, value in request.headers.items()),
        ]
        content = None
        if request.body is not None:
            try:
                content = msgspec.json.encode(request.body)
            except (TypeError, ValueError) as error:
                raise InputError("request", request.body, f"values that JSON can hold ({error})") from None
            headers += [(b"Content-Type", b"application/json"), (b"Content-Length", str(len(content)).encode())]
        target = (address.root + request.path).encode()
        return {
            "method": request.method,
            "url": httpcore.URL(scheme=address.scheme, host=address.host, port=address.port, target=target),
            "headers": headers,
            "content": content,
            "extensions": {"timeout": self._timeout},
        }

    def _respond(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> HttpResponse:
        self._was_up = True
        named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
        return HttpResponse(status, named, body)

    def _answer(self, request: Request[Result], response: HttpResponse) -> Result:
        """Return the decoded answer, or raise an error if the service refused the request or failed."""
        if response.status >= 300:
            raise _error_in(response)
        try:
            if request.into is not None:
                return msgspec.convert(response.headers.get("x-adhere-head"), request.response)
            return msgspec.json.decode(response.body or b"null", type=request.response)
        except msgspec.DecodeError as error:
            raise ServiceError(response.status, f"an answer that adhere does not give: {error}") from None

    @contextmanager
    def _raising_own(self) -> Iterator[None]:
        try:
            yield
        except InputError as error:
            own = self._own_errors.get(type(error))
            if own is None:
                raise
            same = own(error.field, error.value, error.expected, error.sentence)
            vars(same).update(vars(error))  # copies the recommendation_id of a conflict too
            raise same from None


def _error_in(response: HttpResponse) -> Exception:
    if 300 <= response.status < 400:
        where = response.headers.get("location", "another address")
        return ServiceError(response.status, f"the service is at {where}; give its address to the client")
    try:
        problem = msgspec.json.decode(response.body, type=dict[str, Any])
    except msgspec.DecodeError:
        return ServiceError(response.status, "an answer that adhere does not give (is this address the service's?)")
    kind = _ERRORS.get(response.status)
    if kind is None or "expected" not in problem:
        return ServiceError(response.status, str(problem.get("detail") or problem.get("title")))
    sentence = str(problem.get("detail") or "")
    error = kind(str(problem.get("field")), problem.get("value"), str(problem["expected"]), sentence)
    if isinstance(error, ConflictError):
        error.recommendation_id = problem.get("recommendation_id")
    return error
