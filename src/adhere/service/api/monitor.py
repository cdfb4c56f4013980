"""Handlers of what a statistician watches: the monitor of a trial, and its analysis as a file."""

from __future__ import annotations

from starlette.responses import Response

from adhere.service.api.exports import as_file, chosen_format
from adhere.service.context import RequestContext
from adhere.trial.monitoring.monitor import Monitor

_MEDIA = {"html": "text/html; charset=utf-8", "json": "application/json"}


async def monitor(context: RequestContext) -> Monitor:
    """Show a trial as a statistician watches it: effects, compliance, allocation, beliefs and looks, over time."""
    service, trial, since = context.service, context.trial, context.since
    if since is not None and (made := service.monitors.made_since(trial, since)) is not None:
        return made
    return await service.monitors.get(trial, await service.head_of(trial), since)


async def analysis(context: RequestContext) -> Response:
    """Analyse a trial as the command adhere analyse does, without the test by replay: a page in one file, or JSON."""
    form = chosen_format(context.query, _MEDIA)
    # A page that is opened here could otherwise do what its reader may.
    headers = {"content-disposition": f'attachment; filename="analysis.{form}"', "x-content-type-options": "nosniff"}
    return await as_file(context, "analysis", form, {"content-type": _MEDIA[form], **headers})
