"""Authentication and authorisation: a valid token, within its rate, with the route's role, for its own trial."""

from __future__ import annotations

from starlette.types import Scope

from adhere.errors import UnknownError
from adhere.service.addresses import TrustedProxies, network_of
from adhere.service.api.route import Route
from adhere.service.context import RequestContext, Service
from adhere.service.http.connections import mark_authenticated
from adhere.service.http.problems import ProblemError
from adhere.service.http.rate_limits import RateLimit, retry_after
from adhere.store import Token

_MAX_TOKEN_LENGTH = 200


class Authenticator:
    """Checks the token of every request."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self._service = service
        self._limit = RateLimit(settings.token_rate, settings.token_burst)
        self._failures = RateLimit(settings.failure_rate, settings.failure_burst)
        self._proxies = TrustedProxies(settings.trusted_proxies)

    async def authenticate(self, route: Route, headers: dict[bytes, bytes], scope: Scope) -> Token:
        """The holder of the token; raises a `ProblemError` if the request is not allowed."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        token = token.strip()  # the parser leaves the blanks after a header's value
        holder = self._service.tokens.find(token) if scheme.lower() == b"bearer" else None
        if holder is None:
            holder = await self._refresh_and_look(scheme, token, scope)
        mark_authenticated(scope)
        if wait := self._limit.wait(holder.id):
            raise ProblemError(
                "too-many",
                "too many requests with this token; wait and try again",
                headers={"retry-after": retry_after(wait)},
            )
        if holder.role not in route.roles:
            allowed = " or ".join(sorted(route.roles))
            raise ProblemError(
                "forbidden",
                f"this request needs the role {allowed}; the token has the role {holder.role}",
                field="role",
            )
        return holder

    def check_trial(self, context: RequestContext) -> None:
        """To a token for one trial, all others are unknown."""
        only = context.holder.trial
        if only is not None and context.trial != only:
            raise UnknownError("trial", context.trial, "the trial this token is for")

    async def _refresh_and_look(self, scheme: bytes, token: bytes, scope: Scope) -> Token:
        """Another process may have made the token since the last refresh; failures are limited for each address."""
        peer = scope.get("client")
        network = network_of(self._proxies.client(peer[0], scope["headers"])) if peer else ""
        if wait := self._failures.wait(network):
            detail = "too many requests without a valid token came from this address"
            raise ProblemError("too-many", detail, headers={"retry-after": retry_after(wait)})
        tokens = self._service.tokens
        if scheme.lower() == b"bearer" and 0 < len(token) <= _MAX_TOKEN_LENGTH:
            await self._service.in_thread(tokens.refresh)
            if holder := tokens.find(token):
                self._failures.refund(network)
                return holder
        detail = "this token is not valid, or was revoked"
        if not token:
            detail = "send a token: Authorization: Bearer adh_…"
        elif tokens.is_expired(token):
            detail = "this token has expired"
        raise ProblemError("unauthenticated", detail, field="Authorization", headers={"www-authenticate": "Bearer"})
