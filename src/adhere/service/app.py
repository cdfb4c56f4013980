"""The ASGI application: route, authenticate, parse, handle, count. No middleware, since every layer costs time."""

import gc
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adhere.errors import InputError, SecretUnknownError, UnavailableError, UnknownPolicyError
from adhere.memory import is_shortage
from adhere.service.api.accesses import call
from adhere.service.api.auth import Authenticator, check_trial
from adhere.service.api.openapi import document
from adhere.service.api.parsing import (
    BodyDecoder,
    DisconnectedError,
    parse_body,
    parse_headers,
    parse_key,
    parse_number,
    parse_recommendation,
    parse_trial,
)
from adhere.service.api.route import Route
from adhere.service.api.router import Router
from adhere.service.background import background_tasks
from adhere.service.context import RequestContext, Service
from adhere.service.group_commit import ShutdownError
from adhere.service.http.problems import MEDIA_TYPE, ProblemError, input_problem
from adhere.service.jobs.child_process import JobProcessError
from adhere.service.logs import Seldom, log_request
from adhere.service.pages.handle_page import Pages
from adhere.service.pages.page_request import PageRoute
from adhere.service.pages.routes import PAGES, routes
from adhere.service.settings import ServiceSettings
from adhere.store import OutcomeUnknownError, Store, StoreError

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NO_STORE = (b"cache-control", b"no-store")
_JSON = (b"content-type", b"application/json")
_UNMATCHED = "unmatched"
_shortages = Seldom(5.0)  # at most one log line about shortages in 5 seconds
_NO_RESOURCES = "the machine is out of resources for now; send the same request again"

log = logging.getLogger("adhere.service")
encode = msgspec.json.Encoder().encode


class App:
    """The service as an ASGI application."""

    def __init__(self, store: Store, settings: ServiceSettings, shared_folder: str | None = None) -> None:
        table = routes(metrics_open=settings.metrics_open)
        self._router: Router[Route | PageRoute] = Router((*table, *PAGES), settings.root_path)
        self._decoders = {route: BodyDecoder(route.body) for route in table if route.body is not None}
        self._service = Service(store, settings, document(table, settings.root_path), shared_folder)
        self._auth = Authenticator(self._service)
        self._pages = Pages(self._service, self._auth, PAGES)
        self._metrics = self._service.metrics
        self._max_body, self._slow = settings.max_body_bytes, settings.slow_request
        # Starlette handles the lifespan protocol only; requests do not pass through it.
        self._starlette = Starlette(lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or start and stop with the server."""
        if scope["type"] != "http":
            await self._starlette(scope, receive, send)
            return
        context = RequestContext(self._service)
        try:
            await self._answer(scope, receive, send, context)
        except Exception as error:
            if not is_shortage(error):
                raise
            _log_shortage(error, "a request")
            for message in _NO_MEMORY:  # if the response has already begun, uvicorn aborts it
                await send(message)
        finally:
            if context.admission is not None:
                context.admission.end()

    async def _answer(self, scope: Scope, receive: Receive, send: Send, context: RequestContext) -> None:
        begin = time.perf_counter()
        route: Route | PageRoute | None = None
        response: Any
        try:
            raw = scope.get("raw_path")
            path = raw.decode("latin-1") if raw is not None else scope["path"]
            found, parameters = self._router.match(scope["method"], path)
            route = found
            if isinstance(found, PageRoute):
                response = await self._pages.answer(scope, receive, context, found, parameters)
                status = response.status_code
            else:
                response = await self._handle(scope, receive, context, found, parameters)
                status = found.status
        except DisconnectedError:
            return
        except Exception as error:
            response = problem = _problem(error, route)
            status = problem.status
            self._metrics.refusals.labels(problem.kind).inc()
            if self._pages.are_at(path):
                response = self._pages.problem(scope, problem)
        if isinstance(response, Response):
            await response(scope, receive, send)
        else:
            for message in _messages(status, response):
                await send(message)
        seconds = time.perf_counter() - begin
        method = scope["method"] if scope["method"] in _METHODS else "other"
        template = route.path if route is not None else _UNMATCHED
        self._metrics.count_request(template, method, status, seconds)
        log_request(method, template, status, seconds, context, slow=seconds > self._slow)

    async def _handle(
        self, scope: Scope, receive: Receive, context: RequestContext, route: Route, parameters: dict[str, str]
    ) -> Any:
        headers = parse_headers(scope["headers"])
        if route.roles:
            context.holder = await self._auth.authenticate(route, headers, scope, context)
        if parameters:
            if "trial" in parameters:
                context.trial = parse_trial(parameters)
                check_trial(context)
            context.id = parse_number(parameters)
            if "recommendation_id" in parameters:
                context.recommendation_id = parse_recommendation(parameters)
        if route.idempotent:
            context.idempotency_key = parse_key(headers)
        if route.body is not None:
            context.body = await parse_body(receive, headers, self._decoders[route], self._max_body)
        context.query, context.headers = scope["query_string"], scope["headers"]
        return _as_response(await call(route, context), route)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[dict[str, Any]]:
        service = self._service
        # Imported modules are never garbage. Scanning them at every collection took a tenth of the time.
        gc.freeze()
        try:
            async with background_tasks(service):
                # The server calls `on_ending` at shutdown: listeners disconnect, and open requests are answered.
                yield {"on_ending": service.changes.end}
        finally:
            service.close()


def make_app(store: Store, settings: ServiceSettings | None = None, shared_folder: str | None = None) -> ASGIApp:
    """Make the service for a store, and close the store at shutdown.

    If there are several worker processes, each gets the same `shared_folder`.
    """
    settings = settings or ServiceSettings()
    app = App(store, settings, shared_folder)
    if not settings.cors_origins:
        return app
    # Pages send the token themselves. Credentials that browsers add, such as cookies, are therefore not allowed.
    return CORSMiddleware(
        app,
        allow_origins=settings.cors_origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        expose_headers=["Retry-After", "X-Adhere-Head"],
    )


def _as_response(answer: Any, route: Route) -> Any:
    """Convert a handler's result to the route's response type. A domain value has at least the same fields."""
    if isinstance(answer, msgspec.Struct) and type(answer) is not route.response:
        return msgspec.convert(answer, route.response, from_attributes=True)
    return answer


def _problem(error: Exception, route: Route | PageRoute | None) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, InputError):
        return input_problem(error)
    asked = route.path if route else "a request"
    detail = "nothing was written; send the same request again"
    if isinstance(error, StoreError):
        # Only the first line, because the other lines may identify a subject.
        log.warning("%s was answered 503: %s", asked, str(error).partition("\n")[0])
        if isinstance(error, OutcomeUnknownError) and route is not None:
            detail = f"it is not known whether the request was written; {route.if_unknown}"
    elif isinstance(error, UnknownPolicyError):
        detail = f"the trial's policy cannot be used here; the service's log says why; {detail}"
    elif isinstance(error, SecretUnknownError):
        log.error("%s was answered 503: %s", asked, error)
        detail = f"the secret that draws the trial's arms is missing; the service's log says which; {detail}"
    elif isinstance(error, UnavailableError) or is_shortage(error):
        _log_shortage(error, asked)
    elif isinstance(error, JobProcessError):
        log.warning("a job was not finished: %s", error)
        detail = "the work was not finished; send the same request again"
    elif isinstance(error, OSError):  # no descriptor or no space: a state of the machine that may pass soon
        log.error("out of resources", exc_info=error)
        detail = _NO_RESOURCES
    elif not isinstance(error, ShutdownError):
        log.error("unhandled exception", exc_info=error)
        return ProblemError("internal", "an error in the service; it was logged there")
    return ProblemError("unavailable", detail, retry_after=1)


def _log_shortage(error: Exception, asked: str) -> None:
    """Log that a request failed for lack of memory or another resource. Messages are limited, because logging needs
    memory too.
    """
    with suppress(MemoryError):
        if _shortages.may():
            why = f"{type(error).__name__} {error}".partition("\n")[0].rstrip()
            log.warning("%s was answered 503: the machine is short of something: %s", asked, why)


def _messages(status: int, response: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the messages that the server sends for a response, all made before the first is sent."""
    if isinstance(response, ProblemError):
        body = response.encoded()
        headers = [(b"content-type", MEDIA_TYPE.encode()), _NO_STORE]
        headers += [(name.encode(), value.encode("latin-1")) for name, value in response.headers.items()]
    elif response is None:
        body, headers = b"", [_NO_STORE]
    else:
        body, headers = encode(response), [_JSON, _NO_STORE]
    if status != 204:
        headers.append((b"content-length", b"%d" % len(body)))
    head = {"type": "http.response.start", "status": status, "headers": headers}
    return head, {"type": "http.response.body", "body": body}


# Made in advance, because there may be no memory to make it when it is needed.
_NO_MEMORY: Final = _messages(503, ProblemError("unavailable", _NO_RESOURCES, retry_after=1))
