"""Wealth of bets against every effect on a grid from -1 to 1, and the kernel that plays these bets.

Two bets are made against each effect θ, one on g > 0 and one on g < 0. With u = λ(θ)·g(θ), a step multiplies their
wealth by 1 + u and 1 - u. Effects are processed in blocks of LANES, side by side in vector registers; the data of a
block are one flat array of ROWS rows. Wealth is a product, kept within the range of a double by exact powers of two.

When a bet has reached the threshold, the steps since the last look are played once more to find the decision at which
the bet reached it; this happens at most once per bet. The order within a batch is unknown, so wealth inside a batch
does not count.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np

from adhere.analysis.records import Floats
from adhere.compilation import Kernel, inline, no_inline
from adhere.processors import usable_processors

LANES: Final = 32
# The rows of a block: the effect θ and 1/(1+|θ|). For both bets, the wealth, the number of times that 2^STEP was
# divided out of it, its value at the last look, and its largest value since. Then the number of decisions after which
# each bet first reached the threshold, and the logarithm of the largest wealth of either bet so far.
THETA, INVERSE, UP, DOWN, UP_SCALE, DOWN_SCALE, UP_START, DOWN_START, UP_TOP, DOWN_TOP = range(10)
UP_AT, DOWN_AT, LOG_TOP, ROWS = range(10, 14)
# The columns of a step: the number of the last decision of its batch, and whether this decision is the last (1 or 0).
# Then the spread as a polynomial in θ, with λ = min(√(rate/spread), cap/(1+|θ|)), and the score w·a - θ·w·b. If an
# outcome is unknown, the parts of the score have two limits.
ENTRY, LAST, SPREAD_0, SPREAD_1, SPREAD_2, RATE, CAP, WA_LOW, WA_HIGH, WB_LOW, WB_HIGH, COLUMNS = range(12)
# A step multiplies wealth by a factor from 1/2 to 3/2. Starting between 2^-400 and 2^400, 256 steps stay within the
# range of a double.
PERIOD: Final = 256
STEP: Final = 400
LOG_STEP: Final = STEP * math.log(2.0)
_LARGE, _SMALL = 2.0**STEP, 2.0**-STEP


class Bets(NamedTuple):
    """Number of earlier steps, and the wealth at which an effect is refuted."""

    n_before: int
    threshold: float


def follow(bets: Any, blocks: Any, steps: Any) -> None:
    """Play the steps against every effect of the given blocks."""
    start = 0
    while start < len(steps):
        # Rescale after every PERIOD steps since the first step, so that the split of steps into calls does not
        # matter.
        end = min(len(steps), start + PERIOD - (bets.n_before + start) % PERIOD)
        for number in range(len(blocks)):
            block = blocks[number]
            play(block, steps, start, end)
            for lane in range(LANES):
                look(bets.threshold, block, lane, steps, start, end)
                if (bets.n_before + end) % PERIOD == 0:
                    rescale(block, UP, UP_SCALE, lane)
                    rescale(block, DOWN, DOWN_SCALE, lane)
        start = end


@inline
def play(block: Any, steps: Any, start: int, end: int) -> None:
    """Play the steps from `start` to `end` against the effects of one block."""
    counts = 1.0 if start == 0 else steps[start - 1, LAST]
    for lane in range(LANES):
        block[UP_START * LANES + lane] = block[UP * LANES + lane]
        block[DOWN_START * LANES + lane] = block[DOWN * LANES + lane]
        block[UP_TOP * LANES + lane] = counts * block[UP * LANES + lane]
        block[DOWN_TOP * LANES + lane] = counts * block[DOWN * LANES + lane]
    for step in range(start, end):
        spread_0, spread_1, spread_2 = steps[step, SPREAD_0], steps[step, SPREAD_1], steps[step, SPREAD_2]
        rate, cap, wa_low, wa_high = steps[step, RATE], steps[step, CAP], steps[step, WA_LOW], steps[step, WA_HIGH]
        wb_low, wb_high, counts = steps[step, WB_LOW], steps[step, WB_HIGH], steps[step, LAST]
        for lane in range(LANES):
            theta = block[THETA * LANES + lane]
            spread = spread_0 + theta * (spread_1 + theta * spread_2)
            bet = min(np.sqrt(rate / spread), cap * block[INVERSE * LANES + lane])
            one, other = theta * wb_low, theta * wb_high
            up = block[UP * LANES + lane] * (1.0 + bet * (wa_low - max(one, other)))
            down = block[DOWN * LANES + lane] * (1.0 - bet * (wa_high - min(one, other)))
            block[UP * LANES + lane] = up
            block[DOWN * LANES + lane] = down
            block[UP_TOP * LANES + lane] = max(block[UP_TOP * LANES + lane], counts * up)
            block[DOWN_TOP * LANES + lane] = max(block[DOWN_TOP * LANES + lane], counts * down)


@inline
def look(threshold: float, block: Any, lane: int, steps: Any, start: int, end: int) -> None:
    """Record whether a bet against an effect reached the threshold in these steps, and the largest wealth so far."""
    up_scale, down_scale = block[UP_SCALE * LANES + lane], block[DOWN_SCALE * LANES + lane]
    up_top, down_top = block[UP_TOP * LANES + lane], block[DOWN_TOP * LANES + lane]
    up_needed, down_needed = scaled(threshold, up_scale), scaled(threshold, down_scale)
    if up_top >= up_needed and block[UP_AT * LANES + lane] == np.inf:
        block[UP_AT * LANES + lane] = reached_at(block, lane, steps, start, end, UP_START, up_needed)
    if down_top >= down_needed and block[DOWN_AT * LANES + lane] == np.inf:
        block[DOWN_AT * LANES + lane] = reached_at(block, lane, steps, start, end, DOWN_START, down_needed)
    if up_top == 0.0:
        return  # a batch that began before these steps has not ended in them
    largest = max(math.log(up_top) + LOG_STEP * up_scale, math.log(down_top) + LOG_STEP * down_scale)
    block[LOG_TOP * LANES + lane] = max(block[LOG_TOP * LANES + lane], largest)


@inline
def scaled(threshold: float, scale: float) -> float:
    """Return the threshold for a wealth that was divided by 2^STEP `scale` times."""
    if scale > 1.0:
        return 0.0  # one PERIOD cannot bring it back below the threshold
    if scale == 1.0:
        return threshold * _SMALL
    if scale < -1.0:
        return np.inf  # one PERIOD cannot bring it up to the threshold
    return threshold if scale == 0.0 else threshold * _LARGE


@no_inline
def reached_at(block: Any, lane: int, steps: Any, start: int, end: int, row: int, needed: float) -> float:
    """Return the decision after which a bet reached the threshold, by replaying the steps since the last look."""
    theta, inverse, wealth = block[THETA * LANES + lane], block[INVERSE * LANES + lane], block[row * LANES + lane]
    for step in range(start, end):
        spread = steps[step, SPREAD_0] + theta * (steps[step, SPREAD_1] + theta * steps[step, SPREAD_2])
        bet = min(np.sqrt(steps[step, RATE] / spread), steps[step, CAP] * inverse)
        one, other = theta * steps[step, WB_LOW], theta * steps[step, WB_HIGH]
        if row == UP_START:
            wealth *= 1.0 + bet * (steps[step, WA_LOW] - max(one, other))
        else:
            wealth *= 1.0 - bet * (steps[step, WA_HIGH] - min(one, other))
        if wealth >= needed and steps[step, LAST] == 1.0:
            return float(steps[step, ENTRY])
    return np.inf


@inline
def rescale(block: Any, row: int, scale: int, lane: int) -> None:
    """Divide a large wealth by a power of two, or multiply a small one; both are exact."""
    if block[row * LANES + lane] > _LARGE:
        block[row * LANES + lane] *= _SMALL
        block[scale * LANES + lane] += 1.0
    elif block[row * LANES + lane] < _SMALL:
        block[row * LANES + lane] *= _LARGE
        block[scale * LANES + lane] -= 1.0


FOLLOW = Kernel(follow)


_ONE_THREAD = 2**22  # steps times effects below which a second thread is not worth its start


class Wealth:
    """Wealth of two bets against each of `n_grid` effects (an odd number, so that 0 is among them)."""

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
        """Return an independent copy."""
        other = Wealth.__new__(Wealth)
        other.theta, other._blocks = self.theta, self._blocks.copy()
        return other

    def follow(self, steps: Floats, n_before: int, level: float) -> None:
        """Play further steps, after `n_before` earlier ones; effects are split over the cores."""
        bets = Bets(n_before, 2.0 / (1.0 - level))
        if not len(steps):
            return
        follow = FOLLOW.compiled(bets, self._blocks, steps)
        n_threads = 1 if len(steps) * len(self.theta) < _ONE_THREAD else min(usable_processors(), len(self._blocks))
        if n_threads == 1:
            follow(bets, self._blocks, steps)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for _ in pool.map(lambda part: follow(bets, part, steps), np.array_split(self._blocks, n_threads)):
                pass

    @property
    def log_up(self) -> Floats:
        """Return the logarithm of K⁺, the wealth of the bet that the effect is above θ."""
        return np.log(self._row(UP)) + LOG_STEP * self._row(UP_SCALE)

    @property
    def log_down(self) -> Floats:
        """Return the logarithm of K⁻, the wealth of the bet that the effect is below θ."""
        return np.log(self._row(DOWN)) + LOG_STEP * self._row(DOWN_SCALE)

    @property
    def log_largest(self) -> Floats:
        """Return the logarithm of the largest wealth that either bet ever had."""
        return self._row(LOG_TOP)

    def refuted_at(self) -> Floats:
        """Return the number of decisions after which effects between grid neighbours were refuted; infinite if never.

        Both neighbours must be refuted by bets on the same side. An effect between a neighbour that is too small and
        one that is too large is not refuted. This rounds the set outwards.
        """
        up, down = self._row(UP_AT), self._row(DOWN_AT)
        return np.minimum(np.maximum(up[1:], up[:-1]), np.maximum(down[1:], down[:-1]))

    def balance(self) -> float | None:
        """Return the effect at which both bets have equal wealth, or None.

        The search begins at the grid effect at which the larger wealth of the two is smallest. If the wealths do not
        cross next to this effect, return this effect. Return None if the wealths never cross and no effect is
        refuted: then there was too little randomisation.
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
