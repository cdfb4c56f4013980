"""Who may come in: a valid token, not too often, with the role the route asks for, for the trial it is meant for."""

from __future__ import annotations

from adhere.errors import UnknownError
from adhere.service.calls import Call, Service
from adhere.service.limits import RateLimit, retry_after
from adhere.service.problems import ProblemError
from adhere.service.routes import Route
from adhere.service.tokens import Holder

_LONGEST_TOKEN = 200


class Guard:
    """Looks at the token of every request."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self._service = service
        self._limit = RateLimit(settings.token_rate, settings.token_burst)
        self._failures = RateLimit(settings.failure_rate, settings.failure_burst)

    async def admit(self, route: Route, headers: dict[bytes, bytes], client: object) -> Holder:
        """Who asks; raises a `ProblemError` if they may not."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        holder = self._service.tokens.holder(token) if scheme.lower() == b"bearer" else None
        if holder is None:
            holder = await self._look_again(scheme, token, client)
        if wait := self._limit.wait(holder.id):
            raise ProblemError("too-many", "this token asks too often", headers={"retry-after": retry_after(wait)})
        if holder.role not in route.roles:
            allowed = ", ".join(sorted(route.roles))
            raise ProblemError("forbidden", f"this is for {allowed}; the token is of a {holder.role}", field="role")
        return holder

    def check_trial(self, call: Call) -> None:
        """To a token for one trial, every other looks like one that is not there."""
        only = call.holder.trial
        if only is not None and call.trial != only:
            raise UnknownError("trial", call.trial, "the trial this token is for")

    async def _look_again(self, scheme: bytes, token: bytes, client: object) -> Holder:
        """Another process may have made a token since we last read them; whoever keeps trying has to wait."""
        address = client[0] if isinstance(client, (tuple, list)) and client else ""
        if wait := self._failures.wait(address):
            detail = "too many requests without a valid token came from this address"
            raise ProblemError("too-many", detail, headers={"retry-after": retry_after(wait)})
        tokens = self._service.tokens
        if scheme.lower() == b"bearer" and 0 < len(token) <= _LONGEST_TOKEN:
            await self._service.beside(tokens.refresh)
            if holder := tokens.holder(token):
                return holder
        detail = (
            "send a token: Authorization: Bearer adh_…" if not token else "this token is not valid, or was revoked"
        )
        raise ProblemError("unauthenticated", detail, field="Authorization", headers={"www-authenticate": "Bearer"})
