"""What a look decides, from the words of docs/explanation/looks-and-stopping.md, in plain lists and by SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]


@dataclass
class Arm:
    """The outcomes of those who were recommended an arm."""

    outcomes: list[float]
    status: str = "active"

    @property
    def n(self) -> int:
        return len(self.outcomes)

    @property
    def mean(self) -> float:
        return sum(self.outcomes) / self.n

    @property
    def variance(self) -> float:
        return sum((y - self.mean) ** 2 for y in self.outcomes) / self.n


@dataclass
class Thresholds:
    """Of one look; None where there is none."""

    superiority: float | None = None
    inferiority: float | None = None
    equivalence: float | None = None
    futility: float | None = None
    margin: float = 0.0

    @property
    def at_the_end(self) -> Thresholds:
        """Of the last look, which has nothing left to give up."""
        return replace(self, futility=None)

    def at_least(self, value: float, name: str) -> bool:
        threshold = getattr(self, name)
        return threshold is not None and value >= threshold

    def at_most(self, value: float, name: str) -> bool:
        threshold = getattr(self, name)
        return threshold is not None and value <= threshold


def by_posterior(arms: Sequence[Arm], thresholds: Thresholds) -> str:
    """Without a control."""
    left = [arm for arm in arms if arm.status == "active"]
    return _best(left, [is_best(arm, left) for arm in left], thresholds) or _alike_or_futile(arms, thresholds)


def by_belief(arms: Sequence[Arm], beliefs: Sequence[float], thresholds: Thresholds) -> str:
    """Without a control; the beliefs are those in all arms."""
    left = [number for number, arm in enumerate(arms) if arm.status == "active"]
    total = sum(beliefs[number] for number in left)
    return (
        _best([arms[number] for number in left], [beliefs[number] / total for number in left], thresholds) or "active"
    )


def _best(left: list[Arm], probabilities: list[float], thresholds: Thresholds) -> str | None:
    order = sorted(
        range(len(left)), key=lambda number: (round(probabilities[number], 9), -number)
    )  # the first of equals
    best = left[order[-1]]
    if thresholds.at_least(probabilities[order[-1]], "superiority"):
        best.status = "superior"
        return "superior"
    for number in order[:-1]:
        if thresholds.at_most(probabilities[number], "inferiority"):
            left[number].status = "inferior"
    if all(arm.status == "inferior" for arm in left if arm is not best):
        best.status = "superior"
        return "superior"
    return None


def _alike_or_futile(arms: Sequence[Arm], thresholds: Thresholds) -> str:
    left = [arm for arm in arms if arm.status == "active"]
    if thresholds.equivalence is not None and all_within(left, thresholds.margin) >= thresholds.equivalence:
        for arm in left:
            arm.status = "equivalent"
        return "equivalent"
    if len(arms) == 2 and thresholds.at_most(gains_more(arms[1], arms[0], thresholds.margin), "futility"):
        arms[1].status = "futile"
        return "futile"
    return "active"


def against_control(arms: Sequence[Arm], control: int, find: Callable[[Arm, Arm], str]) -> str:
    """What the trial stops for, if `find` says of an arm and the control what the arm is."""
    dropped = []
    for number, arm in enumerate(arms):
        if number != control and arm.status == "active":
            arm.status = find(arm, arms[control])
            if arm.status != "active":
                dropped.append(arm.status)
    if "superior" in dropped:
        return "superior"
    is_left = any(arm.status == "active" for number, arm in enumerate(arms) if number != control)
    return "active" if is_left or not dropped else dropped[0]


def found_by_posterior(thresholds: Thresholds) -> Callable[[Arm, Arm], str]:
    """An arm against the control by their posteriors."""

    def find(arm: Arm, control: Arm) -> str:
        better = is_best(arm, [arm, control])
        if thresholds.at_least(better, "superiority"):
            return "superior"
        if thresholds.at_most(better, "inferiority"):
            return "inferior"
        if thresholds.equivalence is not None and all_within([arm, control], thresholds.margin) >= (
            thresholds.equivalence
        ):
            return "equivalent"
        return "futile" if thresholds.at_most(gains_more(arm, control, thresholds.margin), "futility") else "active"

    return find


def found_by_z(thresholds: Thresholds) -> Callable[[Arm, Arm], str]:
    """An arm against the control by the z-statistic."""

    def find(arm: Arm, control: Arm) -> str:
        z = z_statistic(arm, control)
        if thresholds.at_least(z, "superiority"):
            return "superior"
        if thresholds.at_least(-z, "inferiority"):
            return "inferior"
        if thresholds.equivalence is not None and arm.n and control.n:
            error = math.sqrt(arm.variance / arm.n + control.variance / control.n)
            if abs(arm.mean - control.mean) + thresholds.equivalence * error < thresholds.margin:
                return "equivalent"
        return "futile" if thresholds.at_most(z, "futility") else "active"

    return find


def z_statistic(arm: Arm, control: Arm) -> float:
    """By the pooled variance."""
    if not arm.n or not control.n:
        return 0.0
    both = Arm(arm.outcomes + control.outcomes)
    if len(set(both.outcomes)) == 1:
        return 0.0
    return (arm.mean - control.mean) / math.sqrt(both.variance * (1 / arm.n + 1 / control.n))


def is_best(arm: Arm, among: Sequence[Arm]) -> float:
    """P(θ is the largest)."""
    others = [other for other in among if other is not arm]
    return _expected(arm, among, lambda x: np.asarray(np.prod([_below(other, x) for other in others], axis=0)))


def all_within(among: Sequence[Arm], margin: float) -> float:
    """P(largest - smallest θ < margin), by which is the smallest."""

    def if_smallest(arm: Arm) -> float:
        others = [other for other in among if other is not arm]
        return _expected(
            arm,
            among,
            lambda x: np.prod([_below(one, x + margin) - _below(one, x) for one in others], axis=0),
            margin,
        )

    return sum(if_smallest(arm) for arm in among)


def gains_more(arm: Arm, control: Arm, margin: float) -> float:
    """P(θ - θ of the control > margin)."""
    return _expected(control, [arm, control], lambda x: 1.0 - _below(arm, x + margin), margin)


def _parameters(arm: Arm) -> tuple[float, float]:
    return 1 + sum(arm.outcomes), 1 + arm.n - sum(arm.outcomes)


def _below(arm: Arm, x: Floats) -> Floats:
    return np.asarray(special.betainc(*_parameters(arm), np.minimum(x, 1.0)))


def _expected(arm: Arm, among: Sequence[Arm], of: Callable[[Floats], Floats], margin: float = 0.5) -> float:
    """E of(θ), by Gauss-Legendre panels that are cut at quantiles of all posteriors."""
    quantiles = np.array([1e-12, 1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9])
    cuts = [special.betaincinv(*_parameters(one), quantiles) for one in among]
    edges = np.unique(np.concatenate([[0.0, 1.0, 1.0 - margin], *cuts]))
    low, width = edges[:-1, None], np.diff(edges)[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(24)
    x = low + width * (nodes + 1) / 2
    return float(np.sum(stats.beta.pdf(x, *_parameters(arm)) * of(x) * weights * width / 2))
