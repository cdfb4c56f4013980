"""What was known when: the place up to which each decision had seen reports, and the place of its own report."""

from __future__ import annotations

import numpy as np

from adhere.analysis.adaptive.batches import batch_starts, least_of_batch
from adhere.analysis.records import Ints, Records
from adhere.analysis.view import View


def known_places(records: Records, entries: Ints, view: View, n_before: int = 0) -> tuple[Ints, Ints]:
    """Of some entries, what each had seen, and from where on its own report is known; `n_before` others came before.

    For compliers both parts of a report are needed. Without places in a log, an outcome is known before the next
    decision. Decisions of one batch had seen no more than the first of them.
    """
    number = entries + n_before + 1
    if records.seen is None or records.reward_at is None:
        seen = number - 1 if records.batch is None else (batch_starts(records.batch) + n_before)[entries]
        return seen, number
    all_seen = records.seen if records.batch is None else least_of_batch(records.batch, records.seen)
    known_at = records.reward_at[entries]
    if view is View.COMPLIERS and records.actual_at is not None:
        known_at = np.maximum(known_at, records.actual_at[entries])
    return all_seen[entries], known_at
