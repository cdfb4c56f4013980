"""The patients of a population made of counts, as records: the trial that it was counted from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adhere.analysis.records import Records, digest_of
from adhere.populations import Counts
from adhere.records.arms import control_of


def records_of_counts(population: Counts) -> Records:
    """Its patients, an entry for each row of counts.

    >>> from adhere.populations import stroke_aspirin
    >>> records_of_counts(stroke_aspirin()).n_patients
    19422
    """
    number = {arm: index for index, arm in enumerate(population.arms)}
    records = Records(
        name=population.name,
        source=population.source,
        arms=population.arms,
        chosen=np.array([number[row.chosen] for row in population.counts], dtype=np.int64),
        actual=np.array([number[row.actual] for row in population.counts], dtype=np.int64),
        reward=np.array([row.reward for row in population.counts], dtype=np.float64),
        count=np.array([row.patients for row in population.counts], dtype=np.int64),
        control=control_of(population.arms),
    )
    return replace(records, digest=digest_of(records))
