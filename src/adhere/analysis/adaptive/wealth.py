"""The wealth of bets against every effect on a grid from -1 to 1, and which effects they refute."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from adhere.analysis.adaptive.confidence_sequence_kernel import (
    DOWN,
    DOWN_AT,
    DOWN_SCALE,
    FOLLOW,
    INVERSE,
    LANES,
    LOG_STEP,
    LOG_TOP,
    ROWS,
    THETA,
    UP,
    UP_AT,
    UP_SCALE,
    Bets,
)
from adhere.analysis.records import Floats
from adhere.processors import usable_processors

_SMALL = 2**22  # steps times effects that one thread plays sooner than a second one starts


class Wealth:
    """Two bets against each of `n_grid` effects (an odd number, so that 0 is one of them)."""

    def __init__(self, n_grid: int) -> None:
        half = (n_grid - 1) // 2
        self.theta = np.arange(-half, half + 1) / half
        n_blocks = -(-n_grid // LANES)
        padded = np.ones(n_blocks * LANES)
        padded[:n_grid] = self.theta
        self._blocks = np.zeros((n_blocks, ROWS * LANES))
        self._set(THETA, padded)
        self._set(INVERSE, 1.0 / (1.0 + np.abs(padded)))
        for row, value in ((UP, 1.0), (DOWN, 1.0), (UP_AT, np.inf), (DOWN_AT, np.inf)):
            self._set(row, np.full(n_blocks * LANES, value))

    def copy(self) -> Wealth:
        """The same wealth, to go on with another way."""
        other = Wealth.__new__(Wealth)
        other.theta, other._blocks = self.theta, self._blocks.copy()
        return other

    def follow(self, steps: Floats, n_before: int, level: float) -> None:
        """Play further steps, of which `n_before` came before; effects are split over the cores."""
        bets = Bets(n_before, 2.0 / (1.0 - level))
        if not len(steps):
            return
        follow = FOLLOW.compiled(bets, self._blocks, steps)
        n_threads = 1 if len(steps) * len(self.theta) < _SMALL else min(usable_processors(), len(self._blocks))
        if n_threads == 1:
            follow(bets, self._blocks, steps)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for _ in pool.map(lambda part: follow(bets, part, steps), np.array_split(self._blocks, n_threads)):
                pass

    @property
    def log_up(self) -> Floats:
        """The logarithm of K⁺, which bets that the effect is above θ."""
        return np.log(self._row(UP)) + LOG_STEP * self._row(UP_SCALE)

    @property
    def log_down(self) -> Floats:
        """The logarithm of K⁻, which bets that the effect is below θ."""
        return np.log(self._row(DOWN)) + LOG_STEP * self._row(DOWN_SCALE)

    @property
    def log_largest(self) -> Floats:
        """The logarithm of the most that either bet ever had."""
        return self._row(LOG_TOP)

    def refuted_at(self) -> Floats:
        """After how many decisions the effects between two neighbours on the grid were refuted; infinite if not yet.

        Both neighbours must be, by bets on the same side: an effect between one that is too small and one that is too
        large is not refuted. That rounds the set outwards.
        """
        up, down = self._row(UP_AT), self._row(DOWN_AT)
        return np.minimum(np.maximum(up[1:], up[:-1]), np.maximum(down[1:], down[:-1]))

    def balance(self) -> float | None:
        """The effect at which both bets have the same, near the one where the larger of both is smallest.

        None where there is none and no effect is refuted: then too little was left to chance.
        """
        ahead = self.log_up - self.log_down
        if not ahead[0] > 0.0 >= ahead[-1] and not np.isfinite(self.refuted_at()).any():
            return None
        best = int(np.argmin(np.maximum(self.log_up, self.log_down)))
        for left in (best, best - 1):
            if 0 <= left < len(ahead) - 1 and ahead[left] > 0.0 >= ahead[left + 1]:
                share = ahead[left] / (ahead[left] - ahead[left + 1])
                return float(self.theta[left] + share * (self.theta[left + 1] - self.theta[left]))
        return float(self.theta[best])

    def _row(self, row: int) -> Floats:
        return self._blocks.reshape(-1, ROWS, LANES)[:, row].reshape(-1)[: len(self.theta)]

    def _set(self, row: int, values: Floats) -> None:
        self._blocks.reshape(-1, ROWS, LANES)[:, row] = values.reshape(-1, LANES)
