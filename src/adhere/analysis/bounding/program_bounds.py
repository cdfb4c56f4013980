"""Means and average effects between their bounds, by the cells observed and by limits on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nextafter

import numpy as np

from adhere.analysis.bounding.observed_cells import CellBox, ObservedCells
from adhere.analysis.bounding.response_programs import Layout, Program, program_of

_MAX_THINGS = 5  # that can be taken, for one program over all of them: its size doubles with each
_BEYOND = 1e-7  # the solver's tolerance: how far beyond the nearest cells that fit one must go for it to find them

Target = Mapping[int, int]  # the sign of each arm's mean: {1: 1, 0: -1} is the effect of arm 1 against arm 0


@dataclass(frozen=True)
class ProgramBounds:
    """The bounds of each target, None where no population fits the cells."""

    by_shares: tuple[tuple[float, float], ...] | None
    by_limits: tuple[tuple[float, float], ...] | None
    distance: float  # from the shares to the nearest that fit: 1 is at their limits
    is_nearest: bool  # whether `by_shares` are by those, as the observed ones fit no population


def has_one_program(cells: ObservedCells) -> bool:
    """Whether few enough things can be taken for a program over all of them."""
    return cells.n_things + cells.has_other <= _MAX_THINGS


def program_bounds(
    cells: ObservedCells, limits: CellBox, targets: Sequence[Target], *, monotone: bool
) -> ProgramBounds:
    """The bounds of targets; where too many things can be taken, each is bounded with all but its arms lumped."""
    if has_one_program(cells):
        return _solve(cells, limits, targets, monotone=monotone)
    parts = []
    for target in targets:
        arms = sorted(target)
        signs = {place: target[arm] for place, arm in enumerate(arms)}
        rows = cells.telling_rows(arms)
        parts.append(_solve(cells.lumped(arms, rows), limits.lumped(arms, rows), [signs], monotone=monotone))
    return ProgramBounds(
        _joined([one.by_shares for one in parts]),
        _joined([one.by_limits for one in parts]),
        max(one.distance for one in parts),
        any(one.is_nearest for one in parts),
    )


def _solve(cells: ObservedCells, limits: CellBox, targets: Sequence[Target], *, monotone: bool) -> ProgramBounds:
    program = program_of(Layout(cells.told, cells.n_things, cells.has_other, monotone))
    by_limits = _within(program, limits, targets)
    shares = cells.shares
    if cells.unknown:
        exact = program.with_unknown(shares.low, cells.unknown)
        width = exact.matrix.shape[1] - exact.first_cell
        by_shares = _within(exact, CellBox(np.zeros(width), np.ones(width)), targets)
    else:
        by_shares = _within(program, shares, targets)
    if by_limits is None or by_shares is None:
        distance = program.distance(shares.low, shares.high, limits.low, limits.high)
        # The solver's tolerance must not make the distance and the limits say different things.
        distance = max(distance, nextafter(1.0, 2.0)) if by_limits is None else min(distance, 1.0)
        if by_limits is not None:
            by_shares = _within(program, shares.towards(limits, distance + _BEYOND), targets) or by_limits
        return ProgramBounds(by_shares if by_limits else None, by_limits, distance, is_nearest=True)
    return ProgramBounds(by_shares, by_limits, 0.0, is_nearest=False)


def _within(program: Program, cells: CellBox, targets: Sequence[Target]) -> tuple[tuple[float, float], ...] | None:
    objectives = [
        program.least({arm: side * sign for arm, sign in target.items()}) for target in targets for side in (1, -1)
    ]
    minima = program.minima(objectives, cells.low, cells.high)
    if minima is None:
        return None
    return tuple(
        _tidy(low, -minus_high, -1.0 if len(target) == 2 else 0.0)
        for target, low, minus_high in zip(targets, minima[::2], minima[1::2], strict=True)
    )


def _tidy(low: float, high: float, least: float) -> tuple[float, float]:
    """The two without what rounding did to them."""
    low, high = max(low, least) + 0.0, min(high, 1.0) + 0.0
    return (low, high) if low <= high else ((low + high) / 2, (low + high) / 2)


def _joined(parts: Sequence[tuple[tuple[float, float], ...] | None]) -> tuple[tuple[float, float], ...] | None:
    """All of them, or None if any is: an assumption that one program refutes is refuted."""
    found = [one for part in parts if part is not None for one in part]
    return None if None in parts else tuple(found)
