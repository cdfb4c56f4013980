"""Handlers of health checks, metrics and the OpenAPI document."""

from starlette.responses import Response

from adhere.service.context import RequestContext
from adhere.service.http.problems import ProblemError
from adhere.service.metrics import MEDIA_TYPE
from adhere_client.responses.service import Healthy


async def alive(_context: RequestContext) -> Healthy:
    """Liveness."""
    return Healthy()


async def ready(context: RequestContext) -> Healthy:
    """Readiness to write."""  # uses known facts only, so that the answer never waits
    service = context.service
    if not service.loaded:
        detail = "starting: the policies of open trials are being loaded"
        raise ProblemError("unavailable", detail, retry_after=1)
    if service.group_commit.failed_lately:
        raise ProblemError("unavailable", "the last commit failed", retry_after=10)
    if service.probe.last_error is not None:
        raise ProblemError("unavailable", "the store cannot be reached", retry_after=1)
    return Healthy()


async def metrics(context: RequestContext) -> Response:
    """Metrics for Prometheus."""
    return Response(
        await context.service.in_thread(context.service.metrics.text), headers={"content-type": MEDIA_TYPE}
    )


async def openapi(context: RequestContext) -> Response:
    """This OpenAPI document."""  # noqa: D404 (the summary in the document itself)
    return Response(context.service.openapi, media_type="application/json")
