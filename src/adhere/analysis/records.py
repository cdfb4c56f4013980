"""Records of a trial as arrays: an entry for each recommendation or row of counts, in the order of decision."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from adhere.analysis.sentences import say
from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.protocols import TOOK_NOTHING as TOOK_NOTHING
from adhere.protocols import TOOK_OTHER as TOOK_OTHER

NOT_KNOWN: Final = -3  # the treatment taken was not reported
NEVER: Final = 2**62  # log position of a report that has not come
REHEARSAL: Final = "Rehearsal: not data of a trial."
IN_ERROR: Final = "entered in error"  # reason for leaving out an entry made by mistake
MAX_COMPARED: Final = 12  # arms up to which every pair is compared; more arms would have hundreds of pairs

PROBABILITIES_NEEDED: Final = "methods for adaptive allocation need the probability of every arm for every patient"

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def pairs_of(n_arms: int, control: int) -> list[tuple[int, int]]:
    """Return the comparisons to make as (treatment, control): each arm against control, then the other pairs.

    With more than MAX_COMPARED arms, return only the comparisons with control.

    >>> pairs_of(3, 1), len(pairs_of(12, 0)), len(pairs_of(13, 0))
    ([(0, 1), (2, 1), (2, 0)], 66, 12)
    """
    others = [arm for arm in range(n_arms) if arm != control]
    between = [(second, first) for first, second in combinations(others, 2)]
    return [(arm, control) for arm in others] + between * (n_arms <= MAX_COMPARED)


@dataclass(frozen=True, eq=False)
class Records:
    """Arms assigned, arms taken and outcomes of the patients of a trial.

    - `chosen` and `actual` are indices of arms; `actual` may also be TOOK_NOTHING, TOOK_OTHER or NOT_KNOWN.
    - `reward` is NaN if missing.
    - `count` is the number of patients of an entry. Without it, each entry is one patient.
    - `probabilities[t, j]` is the probability of arm j when entry t was decided, NaN if unknown. `estimated` marks
      entries with probabilities estimated by drawing.
    - `seen` is the log position up to which the policy had learned when an entry was decided. `actual_at` and
      `reward_at` are the positions from which the two parts of its report count (NEVER if missing). Without them,
      every outcome counts as known before the next decision.
    - `batch` does not decrease. Entries with the same number were decided in an unknown order.
    - `order` describes the source of the order of entries.
    - `left_out` counts rows that no analysis can use, by reason.
    - `digest` is the digest of the data, `head` the hash of the last record of a log.
    - `rehearsal` marks records that are not data of a trial.
    - `lower_is_better`: the design of the trial reads an outcome y as 1 − y; `reward` is y.
    - `learns_by_stratum` is whether the policy learned separately in each stratum, or None if unknown.
    """

    name: str
    source: str
    arms: tuple[str, ...]
    chosen: Ints
    actual: Ints
    reward: Floats
    control: int = 0
    count: Ints | None = None
    probabilities: Floats | None = None
    estimated: Bools | None = None
    seen: Ints | None = None
    actual_at: Ints | None = None
    reward_at: Ints | None = None
    batch: Ints | None = None
    strata: tuple[str, ...] = ()
    stratum: Ints | None = None
    lost: Bools | None = None
    imputed_actual: Bools | None = None
    imputed_reward: Bools | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    order: str = "as given"
    arm_order: str = ""
    head: str = ""
    digest: str = ""
    rehearsal: bool = False
    lower_is_better: bool = False
    learns_by_stratum: bool | None = None

    def __post_init__(self) -> None:
        for name, column in _checked_columns(vars(self)).items():
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.arms)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Comparisons to make, from `pairs_of`."""
        return pairs_of(self.n_arms, self.control)

    @cached_property
    def patients(self) -> Ints:
        """Number of patients of each entry."""
        return np.ones(len(self), dtype=np.int64) if self.count is None else self.count

    @cached_property
    def n_patients(self) -> int:
        """Number of patients."""
        return int(self.patients.sum())

    @cached_property
    def has_reward(self) -> Bools:
        """Return, for each entry, whether its outcome is known."""
        return ~np.isnan(self.reward)

    @cached_property
    def lacks_probabilities(self) -> Bools:
        """Return, for each entry, whether the probability of an arm is unknown."""
        if self.probabilities is None:
            return np.ones(len(self), dtype=np.bool_)
        return np.asarray(np.isnan(self.probabilities).any(axis=1))

    @cached_property
    def has_all_probabilities(self) -> bool:
        """Return whether the probability of every arm is known for every entry."""
        return self.probabilities is not None and not bool(self.lacks_probabilities.any())

    @cached_property
    def is_exact(self) -> Bools:
        """Return, for each entry, whether the probabilities of all arms are known and not estimated.

        Exact methods use only these entries. Which entries these are depends on the policy, not on the arm drawn.
        """
        known: Bools = np.logical_not(self.lacks_probabilities)
        return known if self.estimated is None else known & ~self.estimated

    @cached_property
    def is_binary(self) -> bool:
        """Return whether every known outcome is 0 or 1."""
        known = self.reward[self.has_reward]
        return bool(np.all((known == 0.0) | (known == 1.0)))

    def is_one_of(self, treatment: int, control: int) -> Bools:
        """Return, for each entry, whether one of two arms was chosen."""
        return np.asarray((self.chosen == treatment) | (self.chosen == control))

    def of_stratum(self, number: int) -> Records:
        """Return the entries of one stratum, as records without strata."""
        assert self.stratum is not None
        return replace(self.where(self.stratum == number), stratum=None, strata=())

    def where(self, kept: Bools | Ints) -> Records:
        """Return the entries selected by a mask or by indices."""
        every = {one.name: getattr(self, one.name) for one in fields(self)}
        arrays: dict[str, Any] = {name: value[kept] for name, value in every.items() if isinstance(value, np.ndarray)}
        return replace(self, **arrays)


_WHOLE: Final = ("chosen", "actual", "count", "seen", "actual_at", "reward_at", "batch", "stratum")
_REAL: Final = ("reward", "probabilities")
_FLAGS: Final = ("estimated", "lost", "imputed_actual", "imputed_reward")
_KINDS: Final = {
    **dict.fromkeys(_WHOLE, (np.dtype(np.int64), "whole numbers")),
    **dict.fromkeys(_REAL, (np.dtype(np.float64), "numbers")),
    **dict.fromkeys(_FLAGS, (np.dtype(np.bool_), "true or false")),
}
_TOLERANCE: Final = 1e-6


def _checked_columns(given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Check the columns of records and convert them to arrays of their types; `given` has all fields."""
    arms, strata = given["arms"], given["strata"]
    check_integer("records, control", given["control"], 0, max(len(arms) - 1, 0))
    n = len(given["chosen"])
    columns = {}
    for name, (kind, words) in _KINDS.items():
        if given[name] is not None:
            shape = (n, len(arms)) if name == "probabilities" else (n,)
            columns[name] = _array(name, given[name], kind, words, shape)
    numbers = f"the number of an arm, from 0 to {len(arms) - 1}"
    taken = f"{numbers}, TOOK_NOTHING ({TOOK_NOTHING}), TOOK_OTHER ({TOOK_OTHER}) or NOT_KNOWN ({NOT_KNOWN})"
    _check_range("chosen", columns, 0, len(arms) - 1, numbers)
    _check_range("actual", columns, min(NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER), len(arms) - 1, taken)
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


def digest_of(records: Records) -> str:
    """Compute the SHA-256 of the arms, the strata, the counts of rows left out, and every array, in order.

    Each array is preceded by its name and shape. Whole numbers and flags are written as little-endian int64, other
    numbers as little-endian float64. If lower outcomes are better, the hashed heading states this. Names of files,
    columns and trials, and the control, do not change the digest.
    """
    heading = {
        "arms": records.arms,
        "strata": records.strata,
        "left out": dict(sorted(records.left_out.items())),
        **({"lower is better": True} if records.lower_is_better else {}),
    }
    digest = hashlib.sha256(json.dumps(heading, ensure_ascii=False, sort_keys=True).encode())
    for one in fields(records):
        array = getattr(records, one.name)
        if isinstance(array, np.ndarray):
            kind = np.dtype("<f8") if array.dtype.kind == "f" else np.dtype("<i8")
            digest.update(f"\n{one.name} {array.shape}\n".encode())
            values = array.astype(kind)
            if kind.kind == "f":
                values[np.isnan(values)] = np.nan  # there are many bit patterns of NaN
            digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def missing_probabilities(n: int, first: str) -> str:
    """Return the warning for unknown probabilities."""
    many = "1 row" if n == 1 else f"{n:,} rows"
    return f"probabilities are missing in {many}, first in {first}: {PROBABILITIES_NEEDED}"


def repeated_subjects(n_repeated: int, n_subjects: int, n_rows: int, first: str = "") -> str:
    """Return the warning for subjects with several recommendations; `first` names one and its rows."""
    who = "1 subject has" if n_repeated == 1 else f"{n_repeated:,} subjects have"
    return say("several_rows", who=who, n_rows=n_rows, n_subjects=n_subjects, first=first)
