"""Balke and Pearl's bounds by linear programs over response types.

A person is described by what they would take when told each arm, and by their outcome with each thing that can be
taken. Nobody's responses to two arms are observed together. Therefore the program does not need a column for each
vector of responses, only these columns and equations:

    q(c, y)        share of people of class c with outcomes y
    x_z(c, y, d)   share of these people who take d when told z: Σ_d x_z(c, y, d) = q(c, y)
    p(v, d | z) = Σ_{c, y: y_d = v} x_z(c, y, d)   cells, fixed or between limits

Without monotonicity there is one class. With monotonicity, a class is the set S of arms that a person takes when told
them. When told another arm, this person takes an arm of S or something that nobody is told, so arms outside S are
never taken. Given S and y, responses to different arms can be combined in any way, so the program is exact. If a
class has few vectors of responses, each vector becomes a class of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product
from math import inf, nextafter, prod

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, coo_array, csc_array, hstack, vstack

from adhere.analysis.bounding.observed_cells import CellBox, ObservedCells
from adhere.analysis.records import Floats

_BATCH = 3000  # columns; smaller programs are solved together, because a call of the solver costs more than they do
_MAX_RESPONSES = 16  # a class with at most this many responses is split into one class per response


@dataclass(frozen=True)
class Layout:
    """Arms that can be told and taken: `told[z]` is the thing told in row z, or None if it is something else."""

    told: tuple[int | None, ...]
    n_things: int
    has_other: bool  # whether something else may be taken, with an unknown outcome
    monotone: bool = False

    @property
    def n_cells(self) -> int:
        """Number of cells for people told an arm, at index 2·thing + outcome; something else is last."""
        return 2 * self.n_things + self.has_other

    def classes(self) -> Iterator[tuple[tuple[int, ...], list[list[int]]]]:
        """Iterate over classes: the things each may take, overall and by arm told (`n_things` is something else)."""
        for things, choices in self._wide_classes():
            if prod(len(taken) for taken in choices) > _MAX_RESPONSES:
                yield things, choices
                continue
            for response in product(*choices):
                yield tuple(sorted(set(response) - {self.n_things})), [[taken] for taken in response]

    def _wide_classes(self) -> Iterator[tuple[tuple[int, ...], list[list[int]]]]:
        every = range(self.n_things)
        other = [self.n_things] * self.has_other
        if not self.monotone:
            yield tuple(every), [[*every, *other]] * len(self.told)
            return
        arms = sorted({thing for thing in self.told if thing is not None})
        free = [thing for thing in every if thing not in arms]
        for size in range(len(arms) + 1):
            for own in combinations(arms, size):
                choices = [[z] if z in own else [*own, *free, *other] for z in self.told]
                if all(choices):
                    yield (*own, *free), choices


@dataclass(frozen=True, eq=False)
class Program:
    """Equations `matrix` @ columns = `totals`; columns from `first_cell` on have limits of their own."""

    matrix: csc_array
    totals: Floats
    people: tuple[tuple[dict[int, int], int], ...]  # outcomes by thing, and the column of the share
    first_cell: int

    def least(self, signs: dict[int, int]) -> Floats:
        """Return the objective Σ sign·E[Y(thing)]; a thing that a class never takes has the minimising outcome."""
        objective = np.zeros(self.matrix.shape[1])
        for outcomes, column in self.people:
            objective[column] = sum(sign * outcomes.get(thing, sign < 0) for thing, sign in signs.items())
        return objective

    def minima(self, objectives: Sequence[Floats], low: Floats, high: Floats) -> list[float] | None:
        """Return the minimum of each objective over cells between `low` and `high`, or None if no population fits."""
        width = self.matrix.shape[1]
        at_once = max(1, _BATCH // width)
        found: list[float] = []
        for start in range(0, len(objectives), at_once):
            batch = np.array(objectives[start : start + at_once])
            lowest, highest = np.zeros_like(batch), np.ones_like(batch)
            lowest[:, self.first_cell :], highest[:, self.first_cell :] = low.ravel(), high.ravel()
            totals = np.tile(self.totals, len(batch))
            solution = milp(
                batch.ravel(),
                bounds=Bounds(lowest.ravel(), highest.ravel()),
                constraints=LinearConstraint(_copies(self, len(batch)), totals, totals),
            )
            if solution.x is None:
                return None
            found += (solution.x.reshape(batch.shape) * batch).sum(axis=1).tolist()
        return found

    def distance(self, low: Floats, high: Floats, least: Floats, most: Floats) -> float:
        """Return the smallest t so that cells in [low − t·(low − least), high + t·(most − high)] fit a population."""
        width = self.matrix.shape[1]
        n_cells = width - self.first_cell
        places = np.arange(n_cells), np.arange(self.first_cell, width)
        cells = csc_array((np.ones(n_cells), places), shape=(n_cells, width))
        by_t = np.concatenate([np.zeros(len(self.totals)), (low - least).ravel(), (high - most).ravel()])
        matrix = csc_array(hstack([vstack([self.matrix, cells, cells]), csc_array(by_t.reshape(-1, 1))]))
        free = np.full(n_cells, inf)
        solution = milp(
            np.append(np.zeros(width), 1.0),
            bounds=Bounds(0.0, np.append(np.ones(width), inf)),
            constraints=LinearConstraint(
                matrix,
                np.concatenate([self.totals, low.ravel(), -free]),
                np.concatenate([self.totals, free, high.ravel()]),
            ),
        )
        return inf if solution.x is None else max(0.0, float(solution.x[-1]))

    def with_unknown(self, known: Floats, unknown: Sequence[tuple[Sequence[int], float]]) -> Program:
        """Return the program in which each cell is its `known` share plus its part of the unknown shares.

        Each element of `unknown` has the indices of cells and a share of people; each of these people belongs to one
        of these cells. The new program has an additional column for each of these indices. Its cells have no limits
        other than 0 and 1.
        """
        width = self.matrix.shape[1]
        n_cells = width - self.first_cell
        entries = [(cell, self.first_cell + cell, 1.0) for cell in range(n_cells)]
        column = width
        for row, (places, _) in enumerate(unknown, start=n_cells):
            for place in places:
                entries += [(place, column, -1.0), (row, column, 1.0)]
                column += 1
        added = _sparse(entries, (n_cells + len(unknown), column))
        padded = hstack([self.matrix, csc_array((self.matrix.shape[0], column - width))])
        totals = np.concatenate([self.totals, known.ravel(), [share for _, share in unknown]])
        return replace(self, matrix=csc_array(vstack([padded, added])), totals=totals)


@lru_cache(maxsize=64)
def program_of(layout: Layout) -> Program:
    """Build the program of a layout; its last columns are the cells, by arm told and index."""
    entries: list[tuple[int, int, float]] = []  # row, column, coefficient; in row 0 the shares of people sum to 1
    people: list[tuple[dict[int, int], int]] = []
    in_cells: list[list[int]] = [[] for _ in range(len(layout.told) * layout.n_cells)]
    row = column = 0
    for things, choices in layout.classes():
        for y in product((0, 1), repeat=len(things)):
            outcomes = dict(zip(things, y, strict=True))
            share, column = column, column + 1
            people.append((outcomes, share))
            entries.append((0, share, 1.0))
            for z, taken in enumerate(choices):
                places = [z * layout.n_cells + 2 * thing + outcomes.get(thing, 0) for thing in taken]
                if len(places) == 1:
                    in_cells[places[0]].append(share)
                    continue
                row += 1
                entries.append((row, share, -1.0))
                for place in places:
                    entries.append((row, column, 1.0))
                    in_cells[place].append(column)
                    column += 1
    first_cell = column
    for cell, members in enumerate(in_cells):
        row += 1
        entries += [(row, member, 1.0) for member in members]
        entries.append((row, first_cell + cell, -1.0))
    matrix = _sparse(entries, (row + 1, first_cell + len(in_cells)))
    return Program(matrix, np.append(1.0, np.zeros(row)), tuple(people), first_cell)


def _sparse(entries: Sequence[tuple[int, int, float]], shape: tuple[int, int]) -> csc_array:
    rows, columns, values = zip(*entries, strict=True)
    return csc_array(coo_array((np.array(values), (np.array(rows), np.array(columns))), shape=shape))


@lru_cache(maxsize=64)
def _copies(program: Program, n: int) -> csc_array:
    """Return the equations of `n` copies of a program, side by side."""
    return program.matrix if n == 1 else csc_array(block_diag([program.matrix] * n, format="csc"))


_MAX_THINGS = 5  # things that can be taken, in one program over all of them; its size doubles with each
_BEYOND = 1e-7  # distance to go beyond the nearest cells that fit, because of the solver's tolerance

Target = Mapping[int, int]  # the sign of each arm's mean: {1: 1, 0: -1} is the effect of arm 1 against arm 0


@dataclass(frozen=True)
class ProgramBounds:
    """Bounds of each target, or None if no population fits the cells."""

    by_shares: tuple[tuple[float, float], ...] | None
    by_limits: tuple[tuple[float, float], ...] | None
    distance: float  # distance from the shares to the nearest that fit; 1 is at their limits
    is_nearest: bool  # whether `by_shares` uses these, because no population fits the observed shares


def has_one_program(cells: ObservedCells) -> bool:
    """Return whether the number of things that can be taken allows one program over all of them."""
    return cells.n_things + cells.has_other <= _MAX_THINGS


def program_bounds(
    cells: ObservedCells, limits: CellBox, targets: Sequence[Target], *, monotone: bool
) -> ProgramBounds:
    """Compute the bounds of targets.

    If too many things can be taken, each target has its own program, in which all things except the target's arms
    count as something else.
    """
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
        # The distance and the limits must agree despite the solver's tolerance.
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
    """Return the two limits without rounding errors."""
    low, high = max(low, least) + 0.0, min(high, 1.0) + 0.0
    return (low, high) if low <= high else ((low + high) / 2, (low + high) / 2)


def _joined(parts: Sequence[tuple[tuple[float, float], ...] | None]) -> tuple[tuple[float, float], ...] | None:
    """Return all parts joined, or None if any is None: an assumption that one program refutes is refuted."""
    found = [one for part in parts if part is not None for one in part]
    return None if None in parts else tuple(found)
