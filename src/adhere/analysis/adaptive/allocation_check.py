"""Test whether arms were drawn with the logged probabilities. The test is valid whenever the trial stops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.adaptive.scores import batch_starts
from adhere.analysis.records import Floats, Ints, Records
from adhere.analysis.sentences import say

_BETS: Final = tuple(side * 2.0**-power for power in range(1, 10) for side in (1, -1))
_N_LOOKS: Final = 500
_MAX_LOG: Final = 700.0


@dataclass(frozen=True)
class AllocationCheck:
    """Result of the allocation check: counts observed and expected by arm, and the e-value of bets.

    The bets are against the logged probabilities. The e-value is their average wealth over all arms, at the look
    where this average was largest. `log_e_by_arm` has the logarithm of the wealth of the bets on each arm at this
    look. If arms are drawn as logged, the e-value ever reaches 1/α with a probability of at most α (Ville's
    inequality). The log is rejected if the e-value reaches 1/α.
    """

    arms: tuple[str, ...]
    observed: tuple[int, ...]
    expected: tuple[float, ...]
    log_e_by_arm: tuple[float, ...]
    log_e: float
    rejected: bool
    sentence: str


def allocation_check(records: Records, level: float = 0.95) -> AllocationCheck | None:
    """Check the allocation by betting on and against every arm.

    Return None if no exact probabilities were logged.

    For arm j and each λ, the product Π(1 + λ·(1{Z=j} - π_j)) is a martingale if arms are drawn with the logged
    probabilities. The bet on arm j is the average of these products over λ = ±1/2, ±1/4, …, ±1/512.

    >>> chosen, half = np.array([0, 1] * 50), np.full((100, 2), 0.5)
    >>> records = Records("a", "b", ("old", "new"), chosen, chosen, np.ones(100), probabilities=half)
    >>> print(allocation_check(records).sentence)
    No evidence against the log: arms were assigned about as often as it says (e = 1; 20 or more would reject).
    """
    kept = records.is_exact
    if records.probabilities is None or not kept.any():
        return None
    batch = None if records.batch is None else records.batch[kept]
    drawn = _Drawn(records.chosen[kept], records.probabilities[kept], records.patients[kept], batch)
    # With two arms, one mirrors the other and λ has both signs, so the bets on both arms win the same.
    bet_on = (0,) if records.n_arms == 2 else range(records.n_arms)
    by_arm = np.array([_log_e(drawn, arm) for arm in bet_on])
    together = _log_mean(by_arm)
    best = int(np.argmax(together))
    log_e = float(together[best])
    rejected = drawn.n_impossible() > 0 or log_e >= -math.log(1.0 - level)
    observed = np.bincount(drawn.chosen, weights=drawn.patients, minlength=records.n_arms)
    expected = drawn.patients @ drawn.probabilities
    n_refused = int(records.patients[~kept].sum())
    e = f"{math.exp(log_e):.2g}" if log_e < _MAX_LOG else f"10^{log_e / math.log(10.0):.0f}"
    told = f"e = {e}; {1.0 / (1.0 - level):.3g} or more would reject"
    return AllocationCheck(
        arms=records.arms,
        observed=tuple(int(n) for n in observed),
        expected=tuple(float(n) for n in expected),
        log_e_by_arm=tuple(float(e) for e in by_arm[:, best]) * (records.n_arms // len(by_arm)),
        log_e=log_e,
        rejected=rejected,
        sentence=_sentence(drawn, records.arms, observed - expected, rejected, told)
        + say("or_out_of_order") * (rejected and records.seen is None and drawn.n_impossible() == 0)
        + (f" {n_refused:,} without exact probabilities left out." if n_refused else ""),
    )


def _sentence(drawn: _Drawn, arms: tuple[str, ...], too_many: Floats, rejected: bool, e: str) -> str:
    if n_impossible := drawn.n_impossible():
        many = "patients were" if n_impossible > 1 else "patient was"
        return say("impossible_draws", n=n_impossible, patients=many)
    if not np.any((drawn.probabilities > 0.0) & (drawn.probabilities < 1.0)):
        return say("nothing_to_check")
    if not rejected:
        return say("drawn_as_logged", e=e)
    furthest = int(np.argmax(np.abs(too_many)))
    more = "more" if too_many[furthest] > 0 else "fewer"
    return say("drawn_otherwise", e=e, arm=arms[furthest], times=abs(too_many[furthest]), more=more)


class _Drawn(NamedTuple):
    chosen: Ints
    probabilities: Floats
    patients: Ints
    batch: Ints | None

    def n_impossible(self) -> int:
        """Return the number of patients who were assigned an arm with probability 0."""
        own = self.probabilities[np.arange(len(self.chosen)), self.chosen]
        return int(self.patients[own == 0.0].sum())

    def looks(self) -> Ints:
        """Return the start index of each interval between looks.

        Rows of counts have no order, so there is one look, at the end. The order within a batch is unknown, so looks
        are between batches.
        """
        n_looks = min(len(self.chosen), _N_LOOKS) if bool(np.all(self.patients == 1)) else 1
        looks = np.linspace(0, len(self.chosen), n_looks, endpoint=False).astype(np.int64)
        return looks if self.batch is None else np.unique(batch_starts(self.batch)[looks])


def _log_e(drawn: _Drawn, arm: int) -> Floats:
    """Return the logarithm of the wealth of the bets on one arm at each look."""
    surprise, looks = (drawn.chosen == arm) - drawn.probabilities[:, arm], drawn.looks()
    won = [np.cumsum(np.add.reduceat(drawn.patients * np.log1p(bet * surprise), looks)) for bet in _BETS]
    return _log_mean(np.array(won))


def _log_mean(logs: Floats) -> Floats:
    """Return the logarithm of the mean over the first axis, given logarithms."""
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.mean(np.exp(logs - top), axis=0)))
