"""Authentication and authorisation: check a request's token, rate, role and trial."""

from starlette.types import Scope

from adhere.access.sessions import LINK_PREFIX
from adhere.errors import UnknownError
from adhere.service.api.route import Route
from adhere.service.context import RequestContext, Service
from adhere.service.http.addresses import TrustedProxies, network_of
from adhere.service.http.connections import mark_authenticated, max_connections
from adhere.service.http.limits import Admission, InFlight, RateLimit
from adhere.service.http.problems import ProblemError
from adhere.store import Token

_MAX_TOKEN_LENGTH = 200
# One token's requests may use a quarter of all connections, and its event streams another quarter. If there are
# few connections, each may use `_OF_FEW`.
_SHARE_OF_CONNECTIONS, _OF_FEW = 4, 8


class Authenticator:
    """The authenticator, which checks the token of every request."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self._service = service
        self._limit = RateLimit(settings.token_rate, settings.token_burst)
        self._failures = RateLimit(settings.failure_rate, settings.failure_burst)
        # A separate limit, so that people behind one address can still sign in after many sessions have ended.
        self._refreshes = RateLimit(settings.failure_rate, settings.failure_burst)
        self._proxies = TrustedProxies(settings.trusted_proxies)
        most = max(_OF_FEW, max_connections(settings.max_connections, settings.workers) // _SHARE_OF_CONNECTIONS)
        self._requests = InFlight(min(settings.token_requests, most), min(settings.session_requests, most))
        self._streams = InFlight(min(settings.token_streams, most), min(settings.session_streams, most))

    async def authenticate(
        self, route: Route, headers: dict[bytes, bytes], scope: Scope, context: RequestContext
    ) -> Token:
        """Return the holder of the token, or raise a `ProblemError` if the request is not allowed."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        token = token.strip()  # the parser does not remove blanks after a header's value
        holder = self._service.tokens.find(token) if scheme.lower() == b"bearer" else None
        if holder is None:
            holder = await self._refresh_and_look(scheme, token, scope)
        self._admit(holder, scope, context)
        check_role(route, holder.role)
        return holder

    async def session(self, secret: str, scope: Scope, context: RequestContext) -> Token | None:
        """Return the holder of a session, or None if it has ended."""
        sessions = self._service.sessions
        holder = sessions.find(secret)
        if holder is None and secret and not self._refreshes.wait(self._network(scope)):
            await self._service.in_thread(self._service.refresh)  # another process may have opened the session
            holder = sessions.find(secret)
        if holder is not None:
            self._admit(holder, scope, context, secret)
        return holder

    async def signing_in(self, text: str, scope: Scope) -> Token | None:
        """Return the holder of a token or one-time link, or None if it is not valid. A link is then used up."""
        text = text.strip()
        if not text.startswith(LINK_PREFIX):
            try:
                return await self._refresh_and_look(b"bearer", text.encode(), scope)
            except ProblemError as problem:
                if problem.kind != "unauthenticated":
                    raise
                return None
        self._count_failure(scope)
        service = self._service
        holder: Token | None = await service.group_commit.run(lambda: service.sessions.take_link(text))
        if holder is not None:
            self._failures.refund(self._network(scope))
        return holder

    def _admit(self, holder: Token, scope: Scope, context: RequestContext, session: str = "") -> None:
        mark_authenticated(scope, holder.id)
        if wait := self._limit.wait(holder.id):
            raise ProblemError("too-many", "too many requests with this token; wait and try again", retry_after=wait)
        context.admission = Admission(self._requests, self._streams, holder.id, session)

    def is_secure(self, scope: Scope) -> bool:
        """Return whether the client used HTTPS, either to this service or to a trusted proxy."""
        peer = scope.get("client")
        return scope["scheme"] == "https" or (peer is not None and self._proxies.is_secure(peer[0], scope["headers"]))

    def _network(self, scope: Scope) -> str:
        peer = scope.get("client")
        return network_of(self._proxies.client(peer[0], scope["headers"])) if peer else ""

    def _count_failure(self, scope: Scope) -> None:
        if wait := self._failures.wait(self._network(scope)):
            detail = "too many requests without a valid token came from this address"
            raise ProblemError("too-many", detail, retry_after=wait)

    async def _refresh_and_look(self, scheme: bytes, token: bytes, scope: Scope) -> Token:
        """Refresh the tokens, because another process may have made this one, and return the holder.

        Failures are limited per address.
        """
        self._count_failure(scope)
        tokens = self._service.tokens
        if scheme.lower() == b"bearer" and 0 < len(token) <= _MAX_TOKEN_LENGTH:
            await self._service.in_thread(tokens.refresh)
            if holder := tokens.find(token):
                self._failures.refund(self._network(scope))
                return holder
        detail = "this token is not valid, or was revoked"
        if not token:
            detail = "send a token: Authorization: Bearer adh_…"
        elif tokens.is_expired(token):
            detail = "this token has expired"
        raise ProblemError("unauthenticated", detail, field="Authorization", headers={"www-authenticate": "Bearer"})


def check_role(route: Route, role: str) -> None:
    """Refuse a role that may not use the route."""
    if role not in route.roles:
        allowed = " or ".join(sorted(route.roles))
        raise ProblemError(
            "forbidden", f"this request needs the role {allowed}; the token has the role {role}", field="role"
        )


def check_trial(context: RequestContext) -> None:
    """Refuse a trial if the token is for another trial only. Such a token is told that the trial is unknown."""
    only = context.holder.trial
    if only is not None and context.trial != only:
        raise UnknownError("trial", context.trial, "the trial this token is for")
