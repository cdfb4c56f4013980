"""Enrolment: who was enrolled where and when, and which reports are awaited; no outcome and no arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

from starlette.responses import Response

from adhere.service.pages.charts.enrolment import COLUMNS, daily_chart, enrolment_values, is_weekly, total_chart
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.rendering import plural
from adhere.site_zones import DEFAULT
from adhere_client.responses.recommendations import WaitingPage
from adhere_client.responses.trials import SiteEnrolment, TrialEnrolment


async def enrolment_page(page: PageRequest) -> Response:
    """Enrolment over time, the sites, and what waits, a hundred at a time."""
    found: TrialEnrolment = await page.call("enrolment")
    after: Mapping[str, str] = {"after": page.query["after"]} if "after" in page.query else {}
    waiting: WaitingPage = await page.call("list_waiting", query=after)
    now, zones = datetime.now(UTC), page.service.follow_ups.zones
    ends = [(one.site, one.last_activity if found.status == "closed" else now) for one in found.sites]
    values = enrolment_values(found.days, max((zones.day(*end) for end in ends), default=now.date()))
    return page.render(
        "enrolment.html",
        enrolment=found,
        waiting=waiting,
        is_first=not after,
        total=total_chart(values, found.n_patients) if values else None,
        daily=daily_chart(values) if values else None,
        per="week" if is_weekly(values) else "day",
        columns=COLUMNS,
        age=lambda at, site: _age(zones.day(site, now), zones.day(site, at)),
        days=_zones_in_words(found.sites),
    )


def _zones_in_words(sites: Sequence[SiteEnrolment]) -> str:
    """The time zones in which days are counted, in words."""
    names = Counter(site.time_zone for site in sites)
    if len(names) <= 1:
        return f"Days in {next(iter(names), DEFAULT)}"
    (most, _), *_ = names.most_common(1)
    others = [f"{site.site or 'no site'} in {site.time_zone}" for site in sites if site.time_zone != most]
    return f"Days in the time zone of each site: {', '.join(others)}, all others in {most}"


def _age(today: date, day: date) -> str:
    """How many days ago something was, as days are counted at its site.

    >>> _age(date(2026, 3, 4), date(2026, 3, 1)), _age(date(2026, 3, 4), date(2026, 3, 4))
    ('3 days', 'today')
    """
    days = (today - day).days
    return plural(days, "day") if days > 0 else "today"
