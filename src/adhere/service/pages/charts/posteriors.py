"""The posterior densities of a policy: a Beta distribution for each arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adhere_client.responses.monitor import Posterior

_POINTS = 101
_WHO = {
    "assigned": "were assigned",
    "taken": "took",
    "assigned and taken": "were assigned and took",
    "credited": "are credited to",
}
_REACH = 4.5  # standard deviations to each side


def posterior_charts(posteriors: Sequence[Posterior]) -> dict[str, dict[str, Any]]:
    """A chart for each part of the policy, by its name and whose outcomes it counts."""
    parts: dict[str, list[Posterior]] = {}
    for one in posteriors:
        parts.setdefault(f"{one.part}, by the outcomes of those who {_WHO.get(one.of, one.of)} the arm", []).append(
            one
        )
    return {name: _chart(own) for name, own in parts.items()}


def _chart(posteriors: Sequence[Posterior]) -> dict[str, Any]:
    spreads = [_spread(one) for one in posteriors]
    low = max(0.0, min(one.mean - _REACH * spread for one, spread in zip(posteriors, spreads, strict=True)))
    high = min(1.0, max(one.mean + _REACH * spread for one, spread in zip(posteriors, spreads, strict=True)))
    grid = np.linspace(low, high, _POINTS)
    values = [
        {"mean outcome": round(float(x), 5), "arm": one.arm, "density": float(f"{y:.4g}")}
        for one in posteriors
        for x, y in zip(grid, density(grid, one.alpha, one.beta), strict=True)
    ]
    return {
        "data": {"values": values},
        "height": 150,
        "mark": {"type": "area", "opacity": 0.25, "line": True},
        "encoding": {
            "x": {
                "field": "mean outcome",
                "type": "quantitative",
                "scale": {"zero": False, "nice": False},
                "axis": {"tickCount": 6},
            },
            "y": {
                "field": "density",
                "type": "quantitative",
                "stack": None,
                "axis": {"labels": False, "ticks": False},
            },
            "color": {
                "field": "arm",
                "type": "nominal",
                "title": None,
                "sort": list(dict.fromkeys(one.arm for one in posteriors)),
            },
        },
    }


def _spread(one: Posterior) -> float:
    """The standard deviation."""
    total = one.alpha + one.beta
    return float(np.sqrt(one.alpha * one.beta / (total * total * (total + 1.0))))


def density(grid: Any, alpha: float, beta: float) -> Any:
    """The density of a Beta distribution whose parameters are at least 1, as a policy's are.

    >>> density(np.array([0.0, 0.25, 1.0]), 2.0, 1.0).tolist()
    [0.0, 0.5, 2.0]
    """
    from scipy.stats import beta as distribution

    return distribution.pdf(grid, alpha, beta)
