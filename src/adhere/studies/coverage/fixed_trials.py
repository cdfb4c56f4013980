"""Trials of a fixed design, drawn as counts: half of each group to each arm, in permuted blocks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from adhere.analysis.records import Floats, Ints, Records
from adhere.studies.coverage.people import ARMS, People

_NAN = float("nan")


class FixedTrials:
    """Counts of (group, chosen, actual, outcome) of many trials, each with so many patients an arm."""

    def __init__(self, who: People, n_per_arm: int) -> None:
        self._who, self.n_per_arm = who, n_per_arm
        cells = []
        for group, (share, population) in enumerate(who.groups):
            size = round(n_per_arm * share)
            weights = np.stack([population.compliance() - population.reward_mass(), population.reward_mass()], axis=2)
            for chosen in (0, 1):
                cells.append((group, chosen, size, _with_missing(who, chosen, weights[chosen])))
        self._cells = cells

    def drawn(self, seed: int, chunk: int, n_trials: int) -> Iterator[tuple[Records, int]]:
        """Every different trial of a chunk, with how often it came."""
        key = [seed, zlib.crc32(self._who.name.encode()), self.n_per_arm, chunk]
        rng = np.random.default_rng(key)
        drawn = [rng.multinomial(size, weights.ravel(), n_trials) for _, _, size, weights in self._cells]
        tables, times = np.unique(np.hstack(drawn), axis=0, return_counts=True)
        for table, n_times in zip(tables, times.tolist(), strict=True):
            yield self._records(table), n_times

    def _records(self, table: Ints) -> Records:
        there = table > 0
        group, chosen, actual, reward = (column[there] for column in self._columns)
        is_grouped = len(self._who.groups) > 1
        return Records(
            self._who.name, "drawn", ARMS, chosen, actual, reward, count=table[there],
            strata=tuple(population.name for _, population in self._who.groups) if is_grouped else (),
            stratum=group if is_grouped else None,
        )  # fmt: skip

    @property
    def _columns(self) -> tuple[Any, ...]:
        """What each count stands for."""
        rows = [
            (group, chosen, actual, reward)
            for group, chosen, _, weights in self._cells
            for actual in (0, 1)
            for reward in (0.0, 1.0, _NAN)[: weights.shape[1]]
        ]
        group, chosen, actual, reward = zip(*rows, strict=True)
        return np.array(group), np.array(chosen), np.array(actual), np.array(reward)


def _with_missing(who: People, chosen: int, weights: Floats) -> Floats:
    """P(actual, outcome | chosen); a third outcome is one that goes unreported."""
    if who.missing is None:
        return weights
    lost = np.array(who.missing) * (1.0 if chosen else 0.5)
    return np.column_stack([weights * (1 - lost), weights @ lost])
