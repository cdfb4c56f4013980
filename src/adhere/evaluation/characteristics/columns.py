"""Where each number that one simulated trial of a design comes to stands in its row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from adhere.evaluation.characteristics.outcomes import VIEWS
from adhere.looks.judge import NAMES

METHODS = ("naive", "any-time valid")  # the order of the first axis of "estimate"
# The last axis of "estimate": whether there is an estimate, its error, the square of that; whether there is an
# interval, and whether it has the truth. All are 0 where there is none.
HAS_ESTIMATE, ERROR, SQUARED_ERROR, HAS_INTERVAL, COVERS = range(5)
_N_POWERS = 3


@dataclass(frozen=True)
class Columns:
    """The layout of a row of numbers, one row for each trial: each part by its name, an array in C order.

    The parts up to `n_shared` columns are the same for all designs with as many arms, so that rows of two designs can
    be subtracted there; then come what depends on the points of the grid and the number of looks. No number is ever
    NaN: what a trial does not have is 0, and another column says whether it has it.

    `grid` are the numbers of patients at which the allocation is kept.

    >>> columns = Columns(n_arms=2, grid=(10, 20, 30), n_looks=1)
    >>> columns.where("n_patients", 0), columns.shape("over_time")
    (27, (3, 2))
    """

    n_arms: int
    grid: tuple[int, ...]
    n_looks: int

    @cached_property
    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        arms, statuses = self.n_arms, len(NAMES)
        claims = (arms + 1,)  # of each arm, and of any
        shared: dict[str, tuple[int, ...]] = {
            "decision": (statuses,),
            "status": (arms, statuses),
            "false_claim": claims,
            "right_claim": claims,
            "wrong_claim": claims,
            "selected": (arms,),
            "selects_best": (),
            "n_patients": (_N_POWERS,),
            "days": (_N_POWERS,),
            "n_looks": (),
            "chosen": (arms,),
            "allocation": (arms,),
            "taken": (arms,),
            "recommended_inferior": (),
            "took_inferior": (),
            "outcome": (),
            "surplus": (),
            "realised_surplus": (),
            "worse_than_randomisation": (),
            "ideal_recommending": (),
            "ideal_treating": (),
            "estimate": (len(METHODS), len(VIEWS), arms, COVERS + 1),
        }
        own = {
            "over_time": (len(self.grid), arms),
            "running": (len(self.grid),),
            "stopped": (self.n_looks, statuses),
        }
        return shared | own

    @cached_property
    def _starts(self) -> Mapping[str, int]:
        sizes = [prod(shape) for shape in self._shapes.values()]
        return dict(zip(self._shapes, np.cumsum([0, *sizes]).tolist(), strict=False))

    def shape(self, part: str) -> tuple[int, ...]:
        """The shape of a part, without the axis of trials."""
        return self._shapes[part]

    def part(self, name: str) -> slice:
        """All columns of a part."""
        start = self._starts[name]
        return slice(start, start + prod(self._shapes[name]))

    def where(self, name: str, *index: int) -> int:
        """The column of one number of a part."""
        shape = self._shapes[name]
        return self._starts[name] + (int(np.ravel_multi_index(index, shape)) if shape else 0)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of all parts, in their order."""
        return tuple(self._shapes)

    @property
    def n_shared(self) -> int:
        """How many columns come first that rows of other designs with as many arms have too."""
        return self._starts["over_time"]

    @property
    def n_columns(self) -> int:
        """How long a row is."""
        return sum(prod(shape) for shape in self._shapes.values())
