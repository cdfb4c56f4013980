"""The monitor of a trial: the page, its parts after the log has grown, and files to download."""

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

_PATIENCE: Final = 0.3  # seconds that a page waits for its numbers; afterwards it is sent without them
_RETRY: Final = 30_000  # milliseconds after which a page without notifications asks again
_MAX_CACHED: Final = 32
# The parts by root, trial and head, including parts that are being rendered.
_rendered: OrderedDict[tuple[str, str, str], asyncio.Future[str]] = OrderedDict()


async def monitor_page(page: PageRequest) -> Response:
    """Show the page with its numbers. If they take long, show it without them; the page then asks for them."""
    asked = asyncio.ensure_future(_parts(page))
    parts = None
    if page.is_fragment:
        return Response(await asked, 200, HEADERS, "text/html")
    with suppress(TimeoutError):
        parts = await asyncio.wait_for(asyncio.shield(asked), _PATIENCE)
    if parts is None:  # the page gets the result or error when it asks
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
    return page.render("monitor.html", parts=parts, retry=_RETRY)


async def stop_direction_part(page: PageRequest) -> Response:
    """Show a warning in the banner of a recommended stop if intention-to-treat contradicts it."""
    found: Monitor = await page.call("monitor")
    return page.render("parts/stop-direction.html", other_way=points_the_other_way(found))


async def monitor_events(page: PageRequest) -> Response:
    """Notify an open page of each change in the trial, at most every two seconds."""
    await page.call("show_trial")  # raises an error if the reader may not see the trial
    assert page.admission is not None
    page.admission.become_stream()
    service, secret = page.service, page.secret
    return EventStream(service.changes.heads(page.trial), lambda: service.sessions.find(secret) is not None)


async def monitor_file(page: PageRequest) -> Response:
    """Download the records, the log or the analysis."""
    form = page.query.get("format", "csv")
    operation = "analysis" if form in ("html", "json") else "export"
    found: Response = await page.call(operation, query={"format": form})
    name = "analysis" if operation == "analysis" else "records"
    found.headers["content-disposition"] = f'attachment; filename="{name}.{"ndjson" if form == "log" else form}"'
    return found


async def _parts(page: PageRequest) -> str:
    """Return the parts of the page, rendered only once for each head of the log."""
    # Readers notified of a change ask one after the other, while the log grows. All see the numbers of the first.
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
    """Return whether a look recommends to stop while the any-time valid intention-to-treat estimate disagrees."""
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
