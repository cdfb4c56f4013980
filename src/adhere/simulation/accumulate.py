"""What tasks found, put together in their order: moments and quantile sketches by population and policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from adhere.simulation.measure import Floats
from adhere.simulation.moments import Moments
from adhere.simulation.quantiles import QuantileSketch

Part = TypeVar("Part", Moments, QuantileSketch)


@dataclass(frozen=True)
class TaskResult:
    """What a task found: moments block by block, since their order of merging matters, and one sketch of all."""

    moments: list[dict[int, list[Moments]]] = field(default_factory=list)  # for each block, by population and policy
    sketches: dict[int, list[QuantileSketch]] = field(default_factory=dict)  # by population and policy

    def add_blocks(self, rows: dict[int, list[Floats]], block_size: int, n_grid: int) -> None:
        """Add what was measured in the next blocks: by population and policy, a row for each run."""
        of_blocks = {
            index: zip(*(Moments.of_blocks(matrix, block_size) for matrix in matrices), strict=True)
            for index, matrices in rows.items()
        }
        for by_index in zip(*of_blocks.values(), strict=True):
            self.moments.append({index: list(own) for index, own in zip(of_blocks, by_index, strict=True)})
        for index, matrices in rows.items():
            _merge(self.sketches, index, [QuantileSketch.of(matrix[:, n_grid - 1]) for matrix in matrices])


class Accumulator:
    """What was found so far. Moments merged in another order would differ in their last bits."""

    def __init__(self) -> None:
        self._moments: dict[int, list[Moments]] = {}
        self._sketches: dict[int, list[QuantileSketch]] = {}

    def add(self, result: TaskResult) -> None:
        """Add what the next task found: tasks are added in their order."""
        for block in result.moments:
            for index, later in block.items():
                _merge(self._moments, index, later)
        for index, sketches in result.sketches.items():
            _merge(self._sketches, index, sketches)

    def totals(self) -> list[list[tuple[Moments, QuantileSketch]]]:
        """Of all runs, by population and policy; the pooled population comes last."""
        return [list(zip(self._moments[i], self._sketches[i], strict=True)) for i in sorted(self._moments)]


def _merge(merged: dict[int, list[Part]], index: int, later: list[Part]) -> None:
    earlier = merged.get(index)
    merged[index] = [one.merge(other) for one, other in zip(earlier, later, strict=True)] if earlier else later
