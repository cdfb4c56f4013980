"""Arrays that refuse what compiled code would do silently.

Compiled code writes beside an array, counts negative indices from the end (on a GPU not always), and takes what a
memo held before. Interpreted on these arrays, the same code stops at the user's own line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.contract.findings import FINITE, INDICES, MEMO, STATE, Broken


class Guard:
    """What an array and all views of it refuse."""

    def __init__(self, name: str) -> None:
        self.name, self.is_frozen, self.is_blank = name, False, False


class StrictArray(np.ndarray[Any, Any]):
    """Floats with a guard; copies of them, and what is computed from them, are ordinary arrays."""

    guard: Guard | None

    def __array_finalize__(self, source: Any) -> None:
        """Views share the guard."""
        self.guard = getattr(source, "guard", None) if self.base is not None else None

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Compute with ordinary arrays."""
        out = kwargs.get("out")
        if out is not None:
            for one in out:
                if isinstance(one, StrictArray):
                    one._refuse_writing(0.0)
            kwargs["out"] = tuple(_plain(one) for one in out)
        result = getattr(ufunc, method)(*(_plain(one) for one in inputs), **kwargs)
        for one in out or ():
            if isinstance(one, StrictArray):
                one._refuse_writing(_plain(one))
        return out[0] if out and len(out) == 1 else result

    def __getitem__(self, index: Any) -> Any:
        """An entry or a view."""
        if self.guard is None:
            return super().__getitem__(index)
        _refuse_negative(index, self.shape)
        found = super().__getitem__(index)
        if self.guard.is_blank and isinstance(found, np.floating) and np.isnan(found):
            raise Broken(MEMO, "the memo is read here before it is written; write it in remember, for every decision")
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write an entry or several."""
        if self.guard is not None:
            _refuse_negative(index, self.shape)
            self._refuse_writing(value)
        super().__setitem__(index, value)

    def _refuse_writing(self, value: Any) -> None:
        if self.guard is None:
            return
        if self.guard.is_frozen:
            raise Broken(STATE, f"the {self.guard.name} is changed here; only learn may change it")
        # A memo has room to work in, where anything may be for a while.
        if self.guard.name == "state" and not np.isfinite(np.asarray(value, float)).all():
            raise Broken(FINITE, f"{value} is written into the {self.guard.name} here")


def strict(values: Any, guard: Guard) -> StrictArray:
    """A copy that refuses."""
    array = np.array(values, float).view(StrictArray)
    array.guard = guard
    return array


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, StrictArray) else value


def _refuse_negative(index: Any, shape: tuple[int, ...]) -> None:
    # The columns of `PerPair` end with nothing and something else, which are told as -1 and -2.
    is_by_pair = len(shape) == 2 and shape[1] == shape[0] + 2
    for place, one in enumerate(index if isinstance(index, tuple) else (index,)):
        if isinstance(one, int | np.integer) and one < 0 and not (is_by_pair and place == 1):
            raise Broken(INDICES, f"index {one} is negative here; count from 0 to the number of entries less 1")
