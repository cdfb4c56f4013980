"""The page Enrolment: recommendations by site and time, and awaited reports, without outcomes or arms."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.rendering import plural
from adhere_client.responses.recommendations import WaitingPage
from adhere_client.responses.trials import DayEnrolment, TrialEnrolment


async def enrolment_page(page: PageRequest) -> Response:
    """Show enrolment over time, the sites, and the awaited reports, a hundred at a time."""
    found: TrialEnrolment = await page.call("enrolment")
    after: Mapping[str, str] = {"after": page.query["after"]} if "after" in page.query else {}
    waiting: WaitingPage = await page.call("list_waiting", query=after)
    now, zones = datetime.now(UTC), page.service.follow_ups.zones
    ends = [(one.site, one.last_activity if found.status == "closed" else now) for one in found.sites]
    per, values = enrolment_values(found.days, max((zones.day(*end) for end in ends), default=now.date()))
    return page.render(
        "enrolment.html",
        enrolment=found,
        waiting=waiting,
        is_first=not after,
        values=values,
        per=per,
        age=lambda at, site: _age(zones.day(site, now), zones.day(site, at)),
        time_zones=Counter(site.time_zone for site in found.sites).most_common(),
    )


def _age(today: date, day: date) -> str:
    """Return in words how many days ago a day was, in the site's time zone.

    >>> _age(date(2026, 3, 4), date(2026, 3, 1)), _age(date(2026, 3, 4), date(2026, 3, 4))
    ('3 days', 'today')
    """
    days = (today - day).days
    return plural(days, "day") if days > 0 else "today"


_MIN_DAYS, _MAX_DAYS = 14, 120  # longer trials are drawn by week


def enrolment_values(days: Iterable[DayEnrolment], until: date) -> tuple[str, list[dict[str, Any]]]:
    """Count the recommendations of all sites by "day", or by "week" in a long trial, over at least two weeks.

    >>> days = [DayEnrolment("2026-03-01", "A", 2), DayEnrolment("2026-03-03", "B", 1)]
    >>> per, values = enrolment_values(days, date(2026, 3, 3))
    >>> per, values[-1]
    ('day', {'day': '2026-03-03', 'end': '2026-03-04', 'recommendations': 1, 'total': 3})
    """
    counts: Counter[date] = Counter()
    for one in days:
        counts[date.fromisoformat(one.day)] += one.recommendations
    if not counts:
        return "day", []
    last = max(*counts, until)
    first = min(*counts, last - timedelta(days=_MIN_DAYS - 1))
    step = 1 if (last - first).days < _MAX_DAYS else 7
    first -= timedelta(days=first.weekday() if step == 7 else 0)
    values, total = [], 0
    for start in range(0, (last - first).days + 1, step):
        day = first + timedelta(days=start)
        n = sum(counts[day + timedelta(days=more)] for more in range(step))
        total += n
        end = day + timedelta(days=step)
        values.append({"day": day.isoformat(), "end": end.isoformat(), "recommendations": n, "total": total})
    return "day" if step == 1 else "week", values
