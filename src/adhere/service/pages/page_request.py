"""Routes of pages, and requests for pages with access to the API on behalf of the user."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

import msgspec
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from adhere.errors import InputError
from adhere.service.api.accesses import call
from adhere.service.api.auth import Authenticator, check_role, check_trial
from adhere.service.api.parsing import BodyDecoder, is_key
from adhere.service.api.route import ALL_ROLES, METRICS, Route
from adhere.service.api.routes import ROUTES
from adhere.service.context import RequestContext, Service
from adhere.service.http.limits import Admission
from adhere.service.http.problems import ProblemError
from adhere.service.pages.csrf import csrf_of
from adhere.service.pages.rendering import HEADERS, render
from adhere.store import Token

OPERATIONS: Final[Mapping[str, Route]] = {route.name: route for route in ROUTES}
PEOPLE: Final = ALL_ROLES - {METRICS}  # roles that can sign in
Refusal: TypeAlias = InputError | ProblemError


@dataclass(frozen=True)
class PageRoute:
    """The route of a page or of one of its forms. `calls` are the operations of the API that it needs.

    Every role that may use all of these operations may open the page; there is no other rule. `tab` is the name in
    the navigation of a trial or, if the path names no trial, of the whole service. A `public` page needs no session.
    """

    method: str
    path: str
    handler: Callable[[PageRequest], Awaitable[Response]]
    calls: tuple[str, ...] = ()
    tab: str = ""
    public: bool = False
    signs_in: bool = False  # accepted without a session, or with a session that has ended

    if_unknown = "load the page again to see whether it was"

    @property
    def roles(self) -> frozenset[str]:
        """Return the roles that may open the page."""
        return reduce(lambda roles, name: roles & OPERATIONS[name].roles, self.calls, PEOPLE)


_decoders: dict[type, BodyDecoder] = {}
# The fields with codes and names, and with answers that repeat one of them.
_NAMES = frozenset({"subject", "site", "label", "kit", "actual", "someone_new", "again", "asked", "use"})


@dataclass(slots=True)
class PageRequest:
    """A request for a page. `holder` is the owner of the session, or None on a public page without a session."""

    service: Service
    auth: Authenticator
    table: Sequence[PageRoute]  # of all pages
    route: PageRoute
    scope: Scope
    holder: Token | None = None
    admission: Admission | None = None  # set if there is a session
    secret: str = ""  # the session's secret as sent by the browser, valid or not
    trial: str = ""
    rehearsal: bool = False  # whether the trial is a rehearsal
    id: int = -1  # the number of a token or a simulation
    recommendation_id: str = ""
    file: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, list[str]] = field(default_factory=dict)  # the fields of a sent form
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def form(self) -> dict[str, str]:
        """Return the form's fields without the blanks around them. If a field was repeated, the last value counts.

        Invisible characters are removed from codes and names (`visible`).
        """
        last = {name: values[-1] for name, values in self.fields.items()}
        return {name: visible(text) if name in _NAMES else text.strip() for name, text in last.items()}

    @property
    def is_fragment(self) -> bool:
        """Return whether htmx asks for a part of a page."""
        return "hx-request" in self.headers

    @property
    def root(self) -> str:
        """Return the path under which a proxy serves the service."""
        return self.service.settings.root_path

    @property
    def path(self) -> str:
        """Return the address of this page without its query."""
        path = quote(self.scope["path"], safe="/")
        return path if path.startswith(f"{self.root}/") else f"{self.root}{path}"

    @property
    def can_be_opened(self) -> bool:
        """Return whether this page can be opened by its address, and not only by sending a form."""
        return any(one.path == self.route.path and one.method == "GET" for one in self.table)

    def may(self, operation: str) -> bool:
        """Return whether the role may use an operation of the API."""
        return self.holder is not None and self.holder.role in OPERATIONS[operation].roles

    async def call(
        self,
        operation: str,
        *,
        id: int | None = None,  # noqa: A002  (as in the table of routes)
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        key: str = "",
        since: float | None = None,
    ) -> Any:
        """Call an operation of the API for the same holder. Refusals are raised like in the API."""
        assert self.holder is not None
        route = OPERATIONS[operation]
        check_role(route, self.holder.role)
        context = RequestContext(self.service)
        context.holder = self.holder
        if "{trial}" in route.path:
            context.trial = self.trial
            check_trial(context)
        context.id = self.id if id is None else id
        context.recommendation_id = self.recommendation_id
        if route.idempotent and not is_key(key.encode()):
            raise ProblemError("malformed", "the form came without its key; load the page again", field="key")
        context.idempotency_key = key
        context.headers, context.since = self.scope["headers"], since
        context.query = urlencode(query or {}).encode()
        if route.body is not None:
            decoder = _decoders.setdefault(route.body, BodyDecoder(route.body))
            context.body = decoder.decode(msgspec.json.encode(body or {}))
        return await call(route, context)

    async def attempt(self, operation: str, **given: Any) -> tuple[Any, Refusal | None]:
        """Call an operation of the API like `call`, and return its answer and its refusal (one of them is None)."""
        try:
            return await self.call(operation, **given), None
        except (InputError, ProblemError) as error:
            return None, error

    def tabs(self, *, of_trial: bool) -> list[tuple[str, str, bool]]:
        """Return the pages in the navigation that this role may open: name, address, and whether it is this page."""
        if self.holder is None:
            return []
        role, trial = self.holder.role, quote(self.trial, safe="")
        routes = [one for one in self.table if one.tab and role in one.roles and of_trial == ("{trial}" in one.path)]
        addresses = [f"{self.root}{one.path}".replace("{trial}", trial) for one in routes]
        return [(one.tab, at, one.path == self.route.path) for one, at in zip(routes, addresses, strict=True)]

    def address(self, *segments: object, **query: object) -> str:
        """Return the address of a page with its segments quoted: `address("trials", name, "monitor")`."""
        path = "/".join([f"{self.root}/app", *(quote(str(segment), safe="") for segment in segments)])
        return f"{path}?{urlencode(query)}" if query else path

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page, or a part of a page, made from a template."""
        csrf = csrf_of(self.secret) if self.holder else ""
        text = render(template, page=self, csrf=csrf, **values)
        return Response(text, status, HEADERS, "text/html")

    def redirect(self, address: str) -> Response:
        """Redirect to another page. htmx is told to load the complete page."""
        if self.is_fragment:
            return Response("", 200, {**HEADERS, "hx-redirect": address}, "text/html")
        return RedirectResponse(address, 303, HEADERS)


def visible(text: str) -> str:
    r"""Return a code or a name without control and format characters and without blanks around it.

    A pasted code may contain tabs and zero-width spaces, which nobody can see in a field.

    >>> visible("L\u200b001\t ")
    'L001'
    """
    if not text.isprintable():
        text = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf"))
    return text.strip()
