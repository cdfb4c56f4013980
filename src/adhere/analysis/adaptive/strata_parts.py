"""The records of each stratum by itself, for methods that must not compare patients of different strata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.records import Records

BY_STRATUM: Final = (
    "The probabilities of arms depended on the stratum: each stratum is estimated by itself and counts by its number "
    "of patients, so that the effect is that in a mixture of strata like this one."
)
_NO_STRATUM: Final = "(missing)"


class Part(NamedTuple):
    """A stratum: its name, its share of the patients, its records."""

    name: str
    share: float
    records: Records


def each_stratum(records: Records) -> Iterator[Part]:
    """Patients of one stratum after the other; patients without a stratum are one."""
    assert records.stratum is not None
    for number in np.unique(records.stratum):
        own = records.stratum == number
        name = records.strata[number] if number >= 0 else _NO_STRATUM
        # Without their strata: within one there is nothing left to stratify by.
        yield Part(name, float(own.mean()), replace(records.where(own), stratum=None, strata=()))
