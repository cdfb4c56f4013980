"""Records for tests: from a few rows, from a population of counts, or any that can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records
from adhere.populations import Counts

MISSING = float("nan")
Row = tuple[int, int, float, int]  # chosen, actual, reward, patients


def made(rows: Sequence[Row], arms: Sequence[str] = ("old", "new"), **more: Any) -> Records:
    """Records of rows (chosen, actual, reward, patients)."""
    chosen, actual, reward, count = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Records(
        name="made",
        source="a test",
        arms=tuple(arms),
        chosen=np.array(chosen, dtype=np.int64),
        actual=np.array(actual, dtype=np.int64),
        reward=np.array(reward, dtype=np.float64),
        count=np.array(count, dtype=np.int64),
        **more,
    )


def of_counts(population: Counts) -> Records:
    """The patients of a table of counts."""
    number = {arm: index for index, arm in enumerate(population.arms)}
    rows = [(number[row.chosen], number[row.actual], row.reward, row.patients) for row in population.counts]
    return made(rows, population.arms)


@st.composite
def any_records(draw: st.DrawFn, binary: bool = False) -> Records:
    """Whatever can be recorded of up to four arms: missing values, zero cells, arms never assigned, nobody at all."""
    n_arms = draw(st.integers(2, 4))
    rewards = st.sampled_from([0.0, 1.0, MISSING] if binary else [0.0, 1.0, 0.25, 0.5, MISSING])
    row = st.tuples(
        st.integers(0, n_arms - 1),
        st.sampled_from([*range(n_arms), TOOK_NOTHING, TOOK_OTHER, NOT_KNOWN]),
        rewards,
        st.sampled_from([1, 2, 7, 150, 20_000]),
    )
    rows = draw(st.lists(row, max_size=12))
    flags = {name: draw(_flags(len(rows))) for name in ("lost", "imputed_actual", "imputed_reward")}
    return made(rows, [f"arm {arm}" for arm in range(n_arms)], **flags)


def _flags(n: int) -> st.SearchStrategy[Any]:
    every = st.lists(st.booleans(), min_size=n, max_size=n)
    return st.none() | every.map(lambda flags: np.array(flags, dtype=np.bool_))
