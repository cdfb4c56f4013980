"""Values of the monitor's charts: allocation, effects, posterior densities and surplus."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

import numpy as np

from adhere_client.responses.monitor import AllocationOverTime, Effect, Monitor, Posterior

Rows: TypeAlias = list[dict[str, Any]]

_POINTS: Final = 101  # of a density
_REACH: Final = 4.5  # standard deviations on each side of a density
_WHO: Final = {
    "assigned": "were assigned",
    "taken": "took",
    "assigned and taken": "were assigned and took",
    "credited": "are credited to",
}


def chart_values(monitor: Monitor) -> dict[str, Any]:
    """Return the values of each chart by name. A chart with nothing to draw has no values."""
    over_time, surplus = monitor.allocation, monitor.surplus
    return {
        "forest": forest_values(monitor.effects),
        "bands": band_values(monitor.effects),
        "enrolled": enrolled_values(over_time),
        "time_format": time_format(over_time.at),
        "drawn": drawn_values(over_time),
        "posteriors": posterior_values(monitor.beliefs.posteriors),
        "surplus": [
            {"recommendations": time, "low": low, "high": high}
            | ({"estimate": surplus.total.value} if time == surplus.t[-1] else {})
            for time, low, high in zip(surplus.t, surplus.low, surplus.high, strict=True)
        ]
        if surplus
        else [],
    }


def enrolled_values(given: AllocationOverTime) -> Rows:
    """Return the recommendations of each arm over time."""
    return [
        {"time": at.isoformat(timespec="milliseconds"), "arm": arm, "recommended": n}
        for arm, counts in given.assigned.items()
        for at, n in zip(given.at, counts, strict=True)
    ]


def drawn_values(given: AllocationOverTime) -> Rows:
    """Return the probability of each arm along the sequence of patients."""
    return [
        {"recommendations": time, "arm": arm, "probability": share}
        for arm, shares in given.probability.items()
        for time, share in zip(given.t, shares, strict=True)
        if share is not None
    ]


def time_format(times: Sequence[datetime]) -> str:
    """Return the format of times on an axis, from seconds for a short rehearsal to days for a trial of months.

    >>> time_format([datetime(2026, 3, 1, 9, 30), datetime(2026, 3, 1, 9, 31)])
    '%H:%M:%S'
    """
    span = times[-1] - times[0] if times else timedelta()
    return "%H:%M:%S" if span < timedelta(hours=1) else "%-d %b %H:%M" if span < timedelta(days=3) else "%-d %b"


def forest_values(effects: Sequence[Effect]) -> Rows:
    """Return a row for each effect that has an interval."""
    names = _names(effects)
    return [
        {
            "effect": name,
            "estimate": effect.estimate.value,
            "low": effect.estimate.low,
            "high": effect.estimate.high,
            "interval": "any-time valid" if effect.is_any_time_valid else "promises nothing",
        }
        for name, effect in zip(names, effects, strict=True)
        if effect.estimate.low is not None and effect.estimate.high is not None
    ]


def band_values(effects: Sequence[Effect]) -> Rows:
    """Return the any-time valid sets after each number of recommendations."""
    shown = [effect for effect in effects if effect.t]
    return [
        {"recommendations": time, "effect": name, "low": low, "high": high}
        for name, effect in zip(_names(shown), shown, strict=True)
        for time, low, high in zip(effect.t, effect.low, effect.high, strict=True)
    ]


def _names(effects: Sequence[Effect]) -> list[str]:
    """Name each row, with its arms only if there are several treatments."""
    with_arms = len({effect.treatment for effect in effects}) > 1
    return [f"{one.view}, {one.treatment} − {one.control}" if with_arms else one.view for one in effects]


def posterior_values(posteriors: Sequence[Posterior]) -> dict[str, Rows]:
    """Return the posterior densities of each component of the policy, by its name and the outcomes it counts."""
    parts: dict[str, list[Posterior]] = {}
    for one in posteriors:
        name = f"{one.part}, by the outcomes of those who {_WHO.get(one.of, one.of)} the arm"
        parts.setdefault(name, []).append(one)
    return {name: _densities(own) for name, own in parts.items()}


def _densities(posteriors: Sequence[Posterior]) -> Rows:
    from scipy.stats import beta

    found = [(one.arm, beta(one.alpha, one.beta)) for one in posteriors]
    low = max(0.0, min(one.mean() - _REACH * one.std() for _, one in found))
    high = min(1.0, max(one.mean() + _REACH * one.std() for _, one in found))
    grid = np.linspace(low, high, _POINTS)
    return [
        {"mean outcome": round(float(x), 5), "arm": arm, "density": float(f"{y:.4g}")}
        for arm, one in found
        for x, y in zip(grid, one.pdf(grid), strict=True)
    ]
