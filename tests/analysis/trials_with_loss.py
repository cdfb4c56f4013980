"""Simulated trials of two arms in which outcomes go missing by what was taken, by stratum or by compliance type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from adhere.analysis.records import NOT_KNOWN, Records

from .made_records import MISSING, Row, made

NEVER, COMPLIER, ALWAYS = 0, 1, 2


@dataclass(frozen=True)
class Trial:
    """A population of never-takers, compliers and always-takers, in one stratum or more.

    `shares[stratum][kind]` sum to one over both; `means[stratum][kind][taken]` are success rates;
    `lost[stratum][assigned][taken]` probabilities of a missing outcome, unless `lost_kind[kind]` has them;
    `unknown` is the probability that what was taken is not known either where the outcome is missing.
    """

    shares: tuple[tuple[float, float, float], ...]
    means: tuple[tuple[tuple[float, float], ...], ...]
    lost: tuple[tuple[tuple[float, float], tuple[float, float]], ...] = (((0.0, 0.0), (0.0, 0.0)),)
    lost_kind: tuple[tuple[float, float], ...] | None = None  # by kind and taken
    unknown: float = 0.0
    n: int = 200  # an arm

    @property
    def intention_to_treat(self) -> float:
        """The true difference if everybody is assigned arm 1 rather than arm 0."""
        return sum(share * (mean[1] - mean[0]) for (_, kind), share, mean in self._people if kind == COMPLIER)

    @property
    def compliers(self) -> float:
        """The true effect on compliers."""
        return self.intention_to_treat / sum(share for (_, kind), share, _ in self._people if kind == COMPLIER)

    @property
    def _people(self) -> list[tuple[tuple[int, int], float, tuple[float, float]]]:
        every = product(range(len(self.shares)), (NEVER, COMPLIER, ALWAYS))
        return [((s, kind), self.shares[s][kind], self.means[s][kind]) for s, kind in every]

    def draw(self, n_trials: int, seed: int) -> Iterator[Records]:
        """Records of trials with this many patients an arm."""
        rng = np.random.default_rng(seed)
        drawn = [rng.multinomial(self.n, self._cells(arm)[1], n_trials) for arm in (0, 1)]
        rows = [[(arm, *cell) for cell in self._cells(arm)[0]] for arm in (0, 1)]
        for number in range(n_trials):
            found: list[Row] = []
            strata: list[int] = []
            for arm in (0, 1):
                for (chosen, stratum, taken, outcome), count in zip(rows[arm], drawn[arm][number], strict=True):
                    if count:
                        found.append((chosen, taken, outcome, int(count)))
                        strata.append(stratum)
            several = len(self.shares) > 1
            names = tuple(f"stratum {one}" for one in range(len(self.shares))) if several else ()
            yield made(found, strata=names, stratum=np.array(strata) if several else None)

    def _cells(self, arm: int) -> tuple[list[tuple[int, int, float]], list[float]]:
        """Cells (stratum, taken, outcome) of those assigned an arm, and their probabilities."""
        cells, chances = [], []
        for (stratum, kind), share, mean in self._people:
            taken = 1 if kind == ALWAYS or (kind == COMPLIER and arm == 1) else 0
            lost = self.lost_kind[kind][taken] if self.lost_kind else self.lost[stratum][arm][taken]
            known = share * (1.0 - lost)
            cells += [(stratum, taken, 1.0), (stratum, taken, 0.0)]
            chances += [known * mean[taken], known * (1.0 - mean[taken])]
            cells += [(stratum, taken, MISSING), (stratum, NOT_KNOWN, MISSING)]
            chances += [share * lost * (1.0 - self.unknown), share * lost * self.unknown]
        return cells, chances


# Never-takers fare badly, and patients assigned the treatment who do not take it are often lost.
BY_TAKEN = Trial(
    shares=((0.3, 0.5, 0.2),),
    means=(((0.2, 0.2), (0.4, 0.6), (0.7, 0.8)),),
    lost=(((0.1, 0.05), (0.6, 0.05)),),
)
BY_STRATUM = Trial(
    shares=((0.15, 0.3, 0.05), (0.15, 0.25, 0.1)),
    means=(((0.2, 0.2), (0.3, 0.4), (0.5, 0.6)), ((0.5, 0.5), (0.6, 0.85), (0.8, 0.9))),
    lost=(((0.05, 0.3), (0.6, 0.1)), ((0.3, 0.05), (0.1, 0.3))),
)
# Outcomes are missing by compliance type: compliers report whatever they take, never-takers seldom.
BY_KIND = Trial(
    shares=((0.3, 0.5, 0.2),),
    means=(((0.1, 0.1), (0.5, 0.7), (0.6, 0.9)),),
    lost_kind=((0.6, 0.6), (0.05, 0.05), (0.2, 0.2)),
)
