"""Handlers for those who watch over the service, and its own description."""

from __future__ import annotations

from starlette.responses import Response

from adhere.service.answers import Healthy
from adhere.service.calls import Call
from adhere.service.metrics import MEDIA_TYPE
from adhere.service.problems import ProblemError


async def alive(_call: Call) -> Healthy:
    """The event loop turns."""
    return Healthy()


async def ready(call: Call) -> Healthy:
    """The store can be read, and the last commit did not fail."""
    service = call.service
    if service.writer.failed_lately:
        raise ProblemError("unavailable", "the last commit failed", headers={"retry-after": "10"})
    await service.beside(service.store.check)
    return Healthy()


async def metrics(call: Call) -> Response:
    """All counts."""
    return Response(await call.service.beside(call.service.metrics.text), headers={"content-type": MEDIA_TYPE})


async def openapi(call: Call) -> Response:
    """The OpenAPI document."""
    return Response(call.service.document, media_type="application/json")
