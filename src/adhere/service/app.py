"""The application: finds the route, asks who it is, reads, answers, counts. Plain ASGI, since every layer costs."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adhere.errors import InputError
from adhere.service.background import background_tasks
from adhere.service.calls import Call, Service
from adhere.service.finding import Finder, number_in, trial_in
from adhere.service.guard import Guard
from adhere.service.logs import log_request
from adhere.service.openapi import document
from adhere.service.problems import MEDIA_TYPE, ProblemError, problem_of
from adhere.service.reading import GoneError, body_of, request_id, wanted
from adhere.service.routes import ROUTES, Route
from adhere.service.settings import Settings
from adhere.service.writer import ClosingError
from adhere.store import Store, StoreError

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NOT_KEPT = (b"cache-control", b"no-store")
_JSON = (b"content-type", b"application/json")
_UNMATCHED = "unmatched"

log = logging.getLogger("adhere.service")
encode = msgspec.json.Encoder().encode


class App:
    """The service as an ASGI application."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._finder = Finder(ROUTES)
        self._decoders = {route: msgspec.json.Decoder(route.body) for route in ROUTES if route.body is not None}
        self._service = Service(store, settings, document(ROUTES))
        self._guard = Guard(self._service)
        self._metrics, self._most, self._slow = self._service.metrics, settings.largest_body, settings.slow
        # Starlette knows how to speak of beginning and end; requests do not pass through it.
        self._rest = Starlette(lifespan=self._life)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or begin and end with the server."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        begin = time.perf_counter()
        call = Call(self._service)
        route: Route | None = None
        try:
            raw = scope.get("raw_path")
            path = raw.decode("latin-1") if raw is not None else scope["path"]
            route, parameters = self._finder.find(scope["method"], path)
            answer = await self._answer(scope, receive, call, route, parameters)
            status = route.status
        except GoneError:
            return
        except Exception as error:
            answer = _problem(error)
            status = answer.status
            self._metrics.refusals.labels(answer.kind).inc()
        if isinstance(answer, Response):
            await answer(scope, receive, send)
        else:
            await _send(send, status, answer)
        took = time.perf_counter() - begin
        method = scope["method"] if scope["method"] in _METHODS else "other"
        template = route.path if route is not None else _UNMATCHED
        self._metrics.answered(template, method, status, took)
        log_request(method, template, status, took, call, slow=took > self._slow)

    async def _answer(
        self, scope: Scope, receive: Receive, call: Call, route: Route, parameters: dict[str, str]
    ) -> Any:
        headers = wanted(scope["headers"])
        if route.roles:
            call.holder = await self._guard.admit(route, headers, scope.get("client"))
        if parameters:
            if "trial" in parameters:
                call.trial = trial_in(parameters)
                self._guard.check_trial(call)
            if "id" in parameters:
                call.id = number_in(parameters, route)
        if route.keyed:
            call.key = request_id(headers)
        if route.body is not None:
            call.body = await body_of(receive, headers, self._decoders[route], self._most)
        call.query = scope["query_string"]
        return await route.handler(call)

    @asynccontextmanager
    async def _life(self, _app: Starlette) -> AsyncIterator[None]:
        service = self._service
        # What was imported stays for good. Looking through it again and again for garbage took a tenth of the time.
        gc.freeze()
        service.metrics.listen()
        service.writer.start()
        try:
            async with background_tasks(service):
                yield
        finally:
            service.metrics.stop_listening()
            service.close()


def make_app(store: Store, settings: Settings | None = None) -> App:
    """The service over a store, which it closes when it ends."""
    return App(store, settings or Settings())


def _problem(error: Exception) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, InputError):
        return problem_of(error)
    if isinstance(error, (StoreError, ClosingError)):
        detail = "nothing was written; the same request may be sent again"
        return ProblemError("unavailable", detail, headers={"retry-after": "1"})
    log.error("an error nobody foresaw", exc_info=error)
    return ProblemError("internal", "it was written down here; nothing else is told")


async def _send(send: Send, status: int, answer: Any) -> None:
    if isinstance(answer, ProblemError):
        body = answer.encoded()
        headers = [(b"content-type", MEDIA_TYPE.encode()), _NOT_KEPT]
        headers += [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    elif answer is None:
        body, headers = b"", [_NOT_KEPT]
    else:
        body, headers = encode(answer), [_JSON, _NOT_KEPT]
    if status != 204:
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
