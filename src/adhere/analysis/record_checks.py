"""Whether the columns of records can be what they say: an error names the column and its first wrong entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.protocols import TOOK_NOTHING, TOOK_OTHER

_WHOLE: Final = ("chosen", "actual", "count", "seen", "actual_at", "reward_at", "batch", "stratum")
_REAL: Final = ("reward", "probabilities")
_FLAGS: Final = ("estimated", "lost", "imputed_actual", "imputed_reward")
_KINDS: Final = {
    **dict.fromkeys(_WHOLE, (np.dtype(np.int64), "whole numbers")),
    **dict.fromkeys(_REAL, (np.dtype(np.float64), "numbers")),
    **dict.fromkeys(_FLAGS, (np.dtype(np.bool_), "true or false")),
}
_TOLERANCE: Final = 1e-6


def checked_columns(given: Mapping[str, Any], not_known: int) -> dict[str, NDArray[Any]]:
    """The columns of records as arrays of their types, by the names of the fields; `given` has all fields.

    `not_known` stands for an arm taken that was not reported.
    """
    arms, strata = given["arms"], given["strata"]
    check_integer("records, control", given["control"], 0, max(len(arms) - 1, 0))
    n = len(given["chosen"])
    columns = {}
    for name, (kind, words) in _KINDS.items():
        if given[name] is not None:
            shape = (n, len(arms)) if name == "probabilities" else (n,)
            columns[name] = _array(name, given[name], kind, words, shape)
    numbers = f"the number of an arm, from 0 to {len(arms) - 1}"
    taken = f"{numbers}, TOOK_NOTHING ({TOOK_NOTHING}), TOOK_OTHER ({TOOK_OTHER}) or NOT_KNOWN ({not_known})"
    _check_range("chosen", columns, 0, len(arms) - 1, numbers)
    _check_range("actual", columns, min(not_known, TOOK_NOTHING, TOOK_OTHER), len(arms) - 1, taken)
    _check_range("reward", columns, 0, 1, "a number from 0 to 1, or NaN where it is missing")
    _check_range("count", columns, 0, np.inf, "a number of patients, at least 0")
    of_strata = f"the number of one of {len(strata):,} strata, from 0, or -1 where it is missing"
    _check_range("stratum", columns, -1, len(strata) - 1, of_strata)
    _check_range("probabilities", columns, 0, 1, "a probability, from 0 to 1, or NaN where it is not known")
    if "probabilities" in columns:
        sums = columns["probabilities"] @ np.ones(len(arms))
        _refuse("probabilities", columns, np.abs(sums - 1.0) > _TOLERANCE, "probabilities that sum to one")
    if "batch" in columns:
        falls = np.diff(columns["batch"], prepend=columns["batch"][:1]) < 0
        _refuse("batch", columns, falls, "a number that is not below the one before")
    return columns


def _array(name: str, value: Any, kind: np.dtype[Any], words: str, shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.asarray(value)
    if array.shape != shape:
        entries = f"{shape[0]:,} entries, as `chosen` has" + f", of {shape[-1]} arms each" * (len(shape) > 1)
        raise InputError(f"records, {name}", f"an array of shape {array.shape}", entries)
    if array.dtype == kind:
        return array
    if array.size and not np.can_cast(array.dtype, kind, "safe"):
        raise InputError(f"records, {name}", f"an array of type {array.dtype}", words)
    return array.astype(kind)


def _check_range(name: str, columns: Mapping[str, NDArray[Any]], low: float, high: float, expected: str) -> None:
    values = columns.get(name)
    if values is None or not values.size:
        return
    # NaN is neither below nor above anything.
    is_real = values.dtype.kind == "f"
    least, most = (
        (np.fmin.reduce(values, None), np.fmax.reduce(values, None)) if is_real else (values.min(), values.max())
    )
    if least < low or most > high:
        _refuse(name, columns, (values < low) | (values > high), expected)


def _refuse(name: str, columns: Mapping[str, NDArray[Any]], is_wrong: NDArray[np.bool_], expected: str) -> None:
    if is_wrong.any():
        entry = int(np.flatnonzero(is_wrong.any(axis=1) if is_wrong.ndim > 1 else is_wrong)[0])
        raise InputError(f"records, {name}[{entry}]", columns[name][entry].tolist(), expected)
