"""Answer requests for pages: check the session and the form, call the handler, and show problems as pages."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs

from msgspec import structs
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope

from adhere.errors import UnavailableError, UnknownError
from adhere.service.api.auth import Authenticator
from adhere.service.api.parsing import parse_number, parse_recommendation, parse_trial, read_body
from adhere.service.context import RequestContext, Service
from adhere.service.http.problems import ProblemError
from adhere.service.pages.csrf import check_csrf, check_origin
from adhere.service.pages.page_request import PageRequest, PageRoute
from adhere.service.pages.rendering import HEADERS

COOKIE: Final = "adhere_session"
_FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 1000
_NO_PAGE = "this page does not exist"


class Pages:
    """The pages of a service."""

    def __init__(self, service: Service, auth: Authenticator, table: Sequence[PageRoute]) -> None:
        self._service, self._auth, self._table = service, auth, table

    async def answer(
        self, scope: Scope, receive: Receive, context: RequestContext, route: PageRoute, parameters: dict[str, str]
    ) -> Response:
        """Return the page, or redirect to the sign-in page if there is no session."""
        page = self._page(scope, route)
        if page.secret and not route.path.startswith("/static/"):  # static files need no session
            page.holder = await self._auth.session(page.secret, scope, context)
            page.admission = context.admission
        page.query = _query(scope)
        if "trial" in parameters:
            context.trial = page.trial = parse_trial(parameters)
        page.id = parse_number(parameters)
        if "recommendation_id" in parameters:
            page.recommendation_id = parse_recommendation(parameters)
        page.file = parameters.get("file", "")
        if not route.public and page.holder is None:
            if route.method == "POST" or page.is_fragment:
                raise ProblemError("unauthenticated", "your session has ended; sign in again")
            return RedirectResponse(page.address("sign-in", next=_here(scope, page)), 303, HEADERS)
        if page.holder is not None:
            context.holder = page.holder
            if not route.public and page.holder.role not in route.roles:
                allowed = " or ".join(sorted(route.roles))
                detail = f"this page is for the role {allowed}; you are signed in with the role {page.holder.role}"
                raise ProblemError("forbidden", detail, field="role")
        if route.method == "POST":
            page.fields = await self._form(receive, page)
        if page.trial:
            page.rehearsal = await self._is_rehearsal(page.trial)
        response = await route.handler(page)
        for name, value in HEADERS.items():  # for files too, because the same browser shows or stores them
            response.headers.setdefault(name, value)
        return response

    def are_at(self, path: str) -> bool:
        """Return whether a path is below the root of the pages, even if no page exists there."""
        path = path.removeprefix(self._service.settings.root_path)
        return path == "/app" or path.startswith("/app/")

    def problem(self, scope: Scope, problem: ProblemError) -> Response:
        """Return a problem as a page, or as a message if only a part of a page was requested.

        The session is looked up in memory only, because the store or the rate of requests may be the problem.
        """
        page = self._page(scope, PageRoute("GET", "/app", _never))
        page.holder = self._service.sessions.find(page.secret) if page.secret else None
        template = "parts/problem.html" if page.is_fragment else "problem.html"
        shown = structs.replace(problem.body, detail=_NO_PAGE) if problem.body.field == "path" else problem.body
        found = page.render(template, problem.status, problem=shown)
        for name, value in problem.headers.items():
            found.headers[name] = value
        return found

    def _page(self, scope: Scope, route: PageRoute) -> PageRequest:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        secret = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        return PageRequest(self._service, self._auth, self._table, route, scope, secret=secret, headers=headers)

    async def _is_rehearsal(self, trial: str) -> bool:
        """Return whether the trial is a rehearsal, or False if the trial cannot be shown."""
        with suppress(UnknownError, UnavailableError):
            return (await self._service.trial(trial)).design.rehearsal
        return False

    async def _form(self, receive: Receive, page: PageRequest) -> Mapping[str, list[str]]:
        """Return the fields of a form, which must come from a page of this session."""
        kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _FORM:
            raise ProblemError("media-type", f"a form must be sent as {_FORM}", field="Content-Type", expected=_FORM)
        check_origin(page.headers)
        body = await read_body(receive, self._service.settings.max_body_bytes)
        try:
            text = body.decode("ascii")
            found = parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
        except ValueError:
            raise ProblemError("malformed", "the form cannot be read", field="body", expected=_FORM) from None
        if page.holder is not None and not page.route.signs_in:
            check_csrf(page.secret, page.headers, found.get("csrf", [""])[-1])
        return found


def _query(scope: Scope) -> dict[str, str]:
    text = scope["query_string"].decode("latin-1")
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        detail = f"the address has more than {_MAX_FIELDS} parameters"
        raise ProblemError("malformed", detail, field="query") from None
    return {name: values[-1] for name, values in found.items()}


def _here(scope: Scope, page: PageRequest) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{page.path}?{query}" if query else page.path


async def _never(page: PageRequest) -> Response:
    """Fill the place of a handler in the route of a problem's page. It is never called."""
    raise NotImplementedError
