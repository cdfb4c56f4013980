"""Render templates, with functions for static files, times and charts."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Final, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from adhere.service.pages.static_files import FILES

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS: Final[Mapping[str, str]] = {
    "cache-control": "no-store",
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "vary": "Cookie, HX-Request",
}
Rows: TypeAlias = Sequence[Mapping[str, Any]]
_MAX_ROWS = 60  # maximum of rows in the table of a chart's numbers


def render(template: str, **values: Any) -> str:
    """Render a template with its values."""
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """Return the environment of the templates, with the functions that they use."""
    loader = PackageLoader("adhere.service.pages")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals |= {"static": _static, "chart": chart}
    made.filters |= {"when": when, "percent": percent, "thousands": "{:,}".format, "plural": plural}
    made.filters["pretty"] = partial(json.dumps, indent=2, ensure_ascii=False)
    return made


def _static(name: str) -> str:
    """Return the path of a static file below the root. It changes with the contents, so it is cached forever."""
    return f"static/{name}?v={FILES[name].version}"


def when(at: datetime | str) -> Markup:
    """Return a time element, which a script shows in the reader's own time zone.

    >>> when(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    Markup('<time datetime="2026-03-01T09:30:00+00:00">2026-03-01 09:30 UTC</time>')
    """
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = (at.replace(tzinfo=UTC) if at.tzinfo is None else at).astimezone(UTC)
    text = Markup('<time datetime="{}">{:%Y-%m-%d %H:%M} UTC</time>')
    return text.format(at.isoformat(timespec="seconds"), at)


def percent(share: float | None) -> str:
    """Return a share in percent, or a dash for None.

    >>> percent(0.784), percent(None)
    ('78%', '–')
    """
    return "–" if share is None else f"{100 * share:.0f}%"


def plural(number: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "patient"), plural(1200, "patient")
    ('1 patient', '1,200 patients')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def chart(
    drawing: str, values: Rows, label: str, caption: str = "", columns: Mapping[str, str] | None = None, **facts: Any
) -> Markup:
    """Return a chart, which a script draws. `label` describes it for readers who cannot see it.

    A table below the chart shows its numbers: all fields of its values, or `columns` (field: heading).
    """
    names = columns or {name: name for row in values[:1] for name in row}
    rows = [[_cell(row.get(name)) for name in names] for row in _thinned(values, next(iter(names), ""))]
    spec = {**chart_spec(drawing, values, **facts), "usermeta": {"columns": list(names)}}
    header, data = list(names.values()), script_json(spec)
    return Markup(render("parts/chart.html", data=data, label=label, caption=caption, header=header, rows=rows))


def chart_spec(drawing: str, values: Rows, **facts: Any) -> dict[str, Any]:
    """Return a drawing's Vega-Lite specification with its values, named so that a script can replace them."""
    spec: dict[str, Any] = json.loads(render(f"charts/{drawing}.json", values=values, **facts))
    return {**spec, "data": {"name": "source_0", "values": values}}


def script_json(value: Any) -> Markup:
    """Return a value as JSON for a script element."""
    return Markup(
        json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    )


def _thinned(values: Rows, place: str) -> list[Mapping[str, Any]]:
    """Return the rows at a limited number of evenly spaced values of the field `place`, including its last value."""
    places = list(dict.fromkeys(row.get(place) for row in values))
    step = max(1, -(-len(values) // _MAX_ROWS))
    kept = set(places[::-1][::step])
    return [row for row in values if row.get(place) in kept]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
