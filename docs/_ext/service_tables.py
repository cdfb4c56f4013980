"""Tables of the service: its settings, its metrics, and what each role may do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal, get_args, get_origin

from markdown import code, plain, table

from adhere.service.api.routes import GROUPS
from adhere.service.metrics import Metrics
from adhere.service.settings import SETTINGS, Setting

_ROLES = ("site", "coordinator", "statistician", "admin", "metrics")
_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def settings_tables() -> str:
    """Return a table of settings for each group."""
    parts = []
    for group, settings in groupby(SETTINGS.values(), key=lambda setting: setting.group):
        rows = [
            (code(one.name), code(one.flag), _type(one), code(one.shown_default), plain(one.description))
            for one in settings
        ]
        parts.append(f"## {group}\n\n{table(('setting', 'flag', 'type', 'default', 'meaning'), rows)}")
    return "\n".join(parts)


def _type(setting: Setting) -> str:
    if setting.many:
        return "list of texts"
    if get_origin(setting.type) is Literal:
        return " or ".join(map(code, get_args(setting.type)))
    return _TYPES[setting.type]


def metrics_table() -> str:
    """Return a table of all metrics, as Prometheus reads them."""
    metrics = Metrics()
    metrics.set_verified(0.0)
    return table(("metric", "type", "labels", "meaning"), _metrics(metrics))


def _metrics(metrics: Metrics) -> Iterator[tuple[str, str, str, str]]:
    registry = metrics._registry
    for collector in registry._collector_to_names:
        for family in collector.collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            labels = ", ".join(map(code, getattr(collector, "_labelnames", ())))
            yield code(name), family.type, labels, plain(family.documentation) + "."


def roles_tables() -> str:
    """Return which role may call which operation."""
    parts = []
    for group, routes in GROUPS.items():
        rows = [
            (
                f"[{route.name}](http.md#{route.name.replace('_', '-').lower()})",
                code(f"{route.method} {route.path}"),
                *("yes" if role in route.roles or not route.roles else "" for role in _ROLES),
            )
            for route in routes
        ]
        parts.append(f"### {group}\n\n{table(('operation', 'address', *_ROLES), rows)}")
    return "\n".join(parts)
