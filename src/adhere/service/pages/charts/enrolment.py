"""The charts of enrolment: recommendations by day or week, and how they add up, against the number planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any, Final

from adhere_client.responses.trials import DayEnrolment

_MIN_DAYS, _MAX_DAYS = 14, 120  # beyond it, weeks are drawn
_TIME: Final = {
    "type": "temporal",
    "title": None,
    "scale": {"type": "utc"},
    "axis": {"format": "%-d %b", "tickCount": 6, "labelOverlap": True, "grid": False},
}
COLUMNS: Final = {"day": "From", "recommendations": "Recommendations", "total": "In all"}


def enrolment_values(days: Iterable[DayEnrolment], until: date) -> list[dict[str, Any]]:
    """Recommendations of all sites by day, or by week of a long trial, up to a day; at least two weeks of them.

    >>> days = [DayEnrolment("2026-03-01", "A", 2), DayEnrolment("2026-03-03", "B", 1)]
    >>> enrolment_values(days, date(2026, 3, 3))[-1]
    {'day': '2026-03-03', 'end': '2026-03-04', 'recommendations': 1, 'total': 3}
    """
    counts: Counter[date] = Counter()
    for one in days:
        counts[date.fromisoformat(one.day)] += one.recommendations
    if not counts:
        return []
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
    return values


def total_chart(values: list[dict[str, Any]], planned: int | None) -> dict[str, Any]:
    """How recommendations add up, with a line at the number planned."""
    y = {"field": "total", "type": "quantitative", "title": "in all", "axis": {"tickMinStep": 1}}
    line = {"type": "line", "interpolate": "step-before"}
    layers: list[dict[str, Any]] = [{"mark": line, "encoding": {"x": {**_TIME, "field": "end"}, "y": y}}]
    if planned is not None:
        layers.append(
            {"mark": {"type": "rule", "strokeDash": [4, 4], "aria": False}, "encoding": {"y": {"datum": planned}}}
        )
    return {"data": {"values": values}, "height": 200, "layer": layers}


def daily_chart(values: list[dict[str, Any]]) -> dict[str, Any]:
    """Recommendations of each day, or week."""
    per = "week" if is_weekly(values) else "day"
    y = {"field": "recommendations", "type": "quantitative", "title": f"per {per}", "axis": {"tickMinStep": 1}}
    encoding = {"x": {**_TIME, "field": "day"}, "x2": {"field": "end"}, "y": y, "y2": {"datum": 0}}
    return {"data": {"values": values}, "height": 200, "mark": {"type": "bar", "x2Offset": -1}, "encoding": encoding}


def is_weekly(values: list[dict[str, Any]]) -> bool:
    """Whether the values are those of weeks."""
    days = [date.fromisoformat(value["day"]) for value in values[:2]]
    return len(days) == 2 and (days[1] - days[0]).days > 1
