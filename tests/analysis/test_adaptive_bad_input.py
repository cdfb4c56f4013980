"""Whatever is recorded, methods for adaptive allocation give a sensible result or a sentence; never a NaN."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.analysis.adaptive.aipw import aipw
from adhere.analysis.adaptive.allocation_check import allocation_check
from adhere.analysis.adaptive.confidence_sequence import confidence_sequences, why_not
from adhere.analysis.records import Records

from .made_records import any_records


@settings(max_examples=30, deadline=None)
@given(records=any_records(), in_order=st.booleans(), data=st.data())
def test_nothing_is_a_nan_and_nothing_raises(records: Records, in_order: bool, data: st.DataObject) -> None:
    shares = st.lists(st.sampled_from([0.0, 1e-300, 0.2, 1.0]), min_size=records.n_arms, max_size=records.n_arms)
    rows = [data.draw(shares.filter(any)) for _ in range(len(records))]
    probabilities = np.array([np.array(row) / sum(row) for row in rows]).reshape(-1, records.n_arms)
    batch = np.sort(data.draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records))))
    given = replace(records, probabilities=probabilities, count=None if in_order else records.count)
    given = replace(given, batch=batch) if data.draw(st.booleans()) else given
    sequences = confidence_sequences(given, n_grid=5)
    assert bool(sequences) != bool(why_not(given))
    for one in sequences:
        numbers = [one.final.low, one.final.high, one.log_wealth_at_zero, one.p_value, *one.low, *one.high]
        assert not any(math.isnan(number) for number in numbers)
        assert one.estimate is None or -1.0 <= one.estimate <= 1.0
        assert 0.0 <= one.p_value <= 1.0
        assert one.note
    for estimate in aipw(given):
        assert estimate.difference.value is None or math.isfinite(estimate.difference.value)
        assert estimate.difference.value is not None or estimate.difference.reason
    check = allocation_check(given)
    assert check is None or (check.sentence and math.isfinite(check.log_e))
