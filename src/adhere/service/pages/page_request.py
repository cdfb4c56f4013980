"""Pages in the table of pages, and one request for a page: who asks, what for, and the API as they may use it."""

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
PEOPLE: Final = ALL_ROLES - {METRICS}  # who can sign in
Refusal: TypeAlias = InputError | ProblemError


@dataclass(frozen=True)
class PageRoute:
    """A page, or what a form of it sends. `calls` are the API's operations without which it is nothing.

    Whoever may use all of these may open the page; there is no other rule. `tab` is its name in the navigation of a
    trial, or of the whole service where the path names no trial. A `public` page needs no session.
    """

    method: str
    path: str
    handler: Callable[[PageRequest], Awaitable[Response]]
    calls: tuple[str, ...] = ()
    tab: str = ""
    public: bool = False
    signs_in: bool = False  # from whatever page it was sent: of no session, or of one that ended since

    if_unknown = "load the page again to see whether it was"

    @property
    def roles(self) -> frozenset[str]:
        """The roles that may open it."""
        return reduce(lambda roles, name: roles & OPERATIONS[name].roles, self.calls, PEOPLE)


_decoders: dict[type, BodyDecoder] = {}
# The fields of codes and names, and of answers that repeat one.
_NAMES = frozenset({"subject", "site", "label", "kit", "actual", "someone_new", "again", "asked", "use"})


@dataclass(slots=True)
class PageRequest:
    """A request for a page; `holder` is whose session it is, None on a public page without one."""

    service: Service
    auth: Authenticator
    table: Sequence[PageRoute]  # of all pages
    route: PageRoute
    scope: Scope
    holder: Token | None = None
    admission: Admission | None = None  # of who has a session
    secret: str = ""  # of the session, or what was sent as one
    trial: str = ""
    rehearsal: bool = False  # whether the trial is one
    id: int = -1  # of a token or a simulation
    recommendation_id: str = ""
    file: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, list[str]] = field(default_factory=dict)  # of a form that was sent
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def form(self) -> dict[str, str]:
        """The fields of the form, without the blanks around them; of those that came several times, the last one.

        Codes and names are without what cannot be seen in them (`visible`).
        """
        last = {name: values[-1] for name, values in self.fields.items()}
        return {name: visible(text) if name in _NAMES else text.strip() for name, text in last.items()}

    @property
    def is_fragment(self) -> bool:
        """Whether htmx asks for a part of a page."""
        return "hx-request" in self.headers

    @property
    def root(self) -> str:
        """The path under which a proxy serves the service."""
        return self.service.settings.root_path

    @property
    def path(self) -> str:
        """The address of this page, without its query."""
        path = quote(self.scope["path"], safe="/")
        return path if path.startswith(f"{self.root}/") else f"{self.root}{path}"

    @property
    def can_be_opened(self) -> bool:
        """Whether this page has an address of its own; without one, only a form leads to it."""
        return any(one.path == self.route.path and one.method == "GET" for one in self.table)

    def may(self, operation: str) -> bool:
        """Whether the role may use an operation of the API."""
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
        """Call an operation of the API for the same holder; refusals are raised like there."""
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
        """Call an operation of the API as `call` does; returns its answer, or why it was refused."""
        try:
            return await self.call(operation, **given), None
        except (InputError, ProblemError) as error:
            return None, error

    def tabs(self, *, of_trial: bool) -> list[tuple[str, str, bool]]:
        """Return the pages in the navigation that this role may open: name, address, whether it is this one."""
        if self.holder is None:
            return []
        role, trial = self.holder.role, quote(self.trial, safe="")
        routes = [one for one in self.table if one.tab and role in one.roles and of_trial == ("{trial}" in one.path)]
        addresses = [f"{self.root}{one.path}".replace("{trial}", trial) for one in routes]
        return [(one.tab, at, one.path == self.route.path) for one, at in zip(routes, addresses, strict=True)]

    def address(self, *segments: object, **query: object) -> str:
        """The address of a page, its segments quoted: `address("trials", name, "monitor")`."""
        path = "/".join([f"{self.root}/app", *(quote(str(segment), safe="") for segment in segments)])
        return f"{path}?{urlencode(query)}" if query else path

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page, or a part of one, made of a template."""
        csrf = csrf_of(self.secret) if self.holder else ""
        text = render(template, page=self, csrf=csrf, **values)
        return Response(text, status, HEADERS, "text/html")

    def redirect(self, address: str) -> Response:
        """See another page; htmx is told to load it whole."""
        if self.is_fragment:
            return Response("", 200, {**HEADERS, "hx-redirect": address}, "text/html")
        return RedirectResponse(address, 303, HEADERS)


def visible(text: str) -> str:
    r"""Return a code or a name as it looks: without control and format characters, and blanks around it.

    A pasted code may contain tabs and zero-width spaces, which nobody can see in a field.

    >>> visible("L\u200b001\t ")
    'L001'
    """
    if not text.isprintable():
        text = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cc", "Cf"))
    return text.strip()
