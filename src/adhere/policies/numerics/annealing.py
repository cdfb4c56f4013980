"""The annealing schedule of ε-greedy."""

import math
from typing import Any

import numpy as np

from adhere.compilation import State, inline, unlikely

_END = 2**14
# A logarithm for every update would be a fifth of a hierarchy's time.
_SCHEDULE = np.array([1.0 / math.log(t + 1e-7) if t > 2 else 1.0 for t in range(_END)])


@inline
def anneal(rule: Any, state: State) -> None:
    """Set ε to min(1, 1 / log(t + 10⁻⁷)), unless it is given; t is one more than the number of rewards."""
    if not unlikely(not math.isnan(rule.epsilon)):
        t = 1.0
        for arm in range(rule.n_arms):
            t += state.counts[arm]
        if unlikely(t >= _END):
            state.epsilon = 1.0 / math.log(t + 1e-7)
        else:
            state.epsilon = _SCHEDULE[np.uint64(t)]
