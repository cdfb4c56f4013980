"""Enrolment: who was enrolled where and when, and which reports are awaited; no outcome and no arm."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from starlette.responses import Response

from adhere.service.api.follow_up_views import EnrolmentView, WaitingList
from adhere.service.pages.charts.enrolment import COLUMNS, daily_chart, enrolment_values, is_weekly, total_chart
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.rendering import plural


async def enrolment_page(page: PageRequest) -> Response:
    """Enrolment over time, the sites, and what waits, a hundred at a time."""
    found: EnrolmentView = await page.call("enrolment")
    after: Mapping[str, str] = {"after": page.query["after"]} if "after" in page.query else {}
    waiting: WaitingList = await page.call("list_waiting", query=after)
    now = datetime.now(UTC)
    last = max((site.last_activity for site in found.sites), default=now) if found.status == "closed" else now
    values = enrolment_values(found.days, last.date())
    return page.render(
        "enrolment.html",
        enrolment=found,
        waiting=waiting,
        is_first=not after,
        total=total_chart(values, found.planned) if values else None,
        daily=daily_chart(values) if values else None,
        per="week" if is_weekly(values) else "day",
        columns=COLUMNS,
        age=lambda at: _age(now, at),
    )


def _age(now: datetime, at: datetime) -> str:
    """How long ago something was.

    >>> _age(datetime(2026, 3, 4, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))
    '3 days'
    """
    days = (now - at).days
    return plural(days, "day") if days > 0 else "today"
