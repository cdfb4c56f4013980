"""The monitor of a trial: the page, its parts once its log has grown, and the files one can take along."""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from functools import partial
from typing import Final

from starlette.responses import Response

from adhere.service.pages.monitor.charts import chart_values
from adhere.service.pages.monitor.event_stream import EventStream
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.rendering import HEADERS, render
from adhere_client.responses.monitor import Effect, Monitor
from adhere_client.responses.trials import Look

_PATIENCE: Final = 0.3  # seconds that a page waits for its numbers; then they follow it
_RETRY: Final = 30_000  # milliseconds after which a page that is not told of news asks again
_MAX_CACHED: Final = 32
# The parts by root, trial and head, while they are rendered too.
_rendered: OrderedDict[tuple[str, str, str], asyncio.Future[str]] = OrderedDict()


async def monitor_page(page: PageRequest) -> Response:
    """The page with its numbers, or without them where they take time; then it asks for them."""
    asked = asyncio.ensure_future(_parts(page))
    parts = None
    if page.is_fragment:
        return Response(await asked, 200, HEADERS, "text/html")
    with suppress(TimeoutError):
        parts = await asyncio.wait_for(asyncio.shield(asked), _PATIENCE)
    if parts is None:  # whatever comes of it is told when the page asks
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
    return page.render("monitor.html", parts=parts, retry=_RETRY)


async def stop_direction_part(page: PageRequest) -> Response:
    """A sentence for the banner of a recommended stop if intention-to-treat contradicts it, or nothing."""
    found: Monitor = await page.call("monitor")
    return page.render("parts/stop-direction.html", other_way=points_the_other_way(found))


async def monitor_events(page: PageRequest) -> Response:
    """Tell an open page whenever the trial has changed, at most every other second."""
    await page.call("show_trial")  # or there is no such trial, for this reader
    assert page.admission is not None
    page.admission.become_stream()
    service, secret = page.service, page.secret
    return EventStream(service.changes.heads(page.trial), lambda: service.sessions.find(secret) is not None)


async def monitor_file(page: PageRequest) -> Response:
    """Take along the records, the log or the analysis."""
    form = page.query.get("format", "csv")
    operation = "analysis" if form in ("html", "json") else "export"
    found: Response = await page.call(operation, query={"format": form})
    name = "analysis" if operation == "analysis" else "records"
    found.headers["content-disposition"] = f'attachment; filename="{name}.{"ndjson" if form == "log" else form}"'
    return found


async def _parts(page: PageRequest) -> str:
    """Return the parts of the page, rendered once for each head of the log, however many watch."""
    # Those who were told of a change ask one after the other, while the log grows on: they see what the first saw.
    since = page.service.changes.noticed_at(page.trial, page.query.get("head", ""))
    found: Monitor = await page.call("monitor", since=since)
    key = (page.root, page.trial, found.head)
    if (rendering := _rendered.get(key)) is None:
        work = page.service.in_thread(partial(_rendered_parts, page, found))
        rendering = _rendered[key] = asyncio.ensure_future(work)
        rendering.add_done_callback(partial(_forget_failed, key))
        while len(_rendered) > _MAX_CACHED:
            _rendered.popitem(last=False)
    return await asyncio.shield(rendering)


def _forget_failed(key: tuple[str, str, str], done: asyncio.Future[str]) -> None:
    if done.cancelled() or done.exception() is not None:
        _rendered.pop(key, None)


def _rendered_parts(page: PageRequest, found: Monitor) -> str:
    values = {"charts": chart_values(found), "other_way": points_the_other_way(found)}
    return render("parts/monitor.html", page=page, monitor=found, **values)


_ITT = "intention-to-treat"


def points_the_other_way(monitor: Monitor) -> bool:
    """Whether a look recommends to stop, and the any-time valid intention-to-treat estimate favours another arm."""
    stop = next((look for look in monitor.looks if look.is_stop), None)
    if stop is None or monitor.status == "closed":
        return False
    found = [effect for effect in monitor.effects if effect.view == _ITT and effect.is_any_time_valid]
    return any(_contradicts(stop, effect) for effect in found)


def _contradicts(stop: Look, effect: Effect) -> bool:
    value = effect.estimate.value
    if value is None:
        return False
    better, worse = ({arm.arm for arm in stop.arms if arm.status == status} for status in ("superior", "inferior"))
    if stop.decision == "superior" and stop.selected is not None:
        better.add(stop.selected)
    favours_treatment = effect.treatment in better or effect.control in worse
    favours_control = effect.control in better or effect.treatment in worse
    return (favours_treatment and value < 0.0) or (favours_control and value > 0.0)
