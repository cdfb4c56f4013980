"""Arms whose lessons have the same mean are tied, in whatever order the lessons came."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from adhere.compilation import memo_of, state_of
from adhere.policies import as_policy, choose, learn
from adhere.policies.base.policy import TrialShape
from adhere.randomness import CHOOSE, point, stream


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def chosen_after(rule: Any, floats: Any, memo_floats: Any, rng: Any, lessons: Any, out: Any) -> None:
    state, memo = state_of(rule, floats), memo_of(rule, memo_floats)
    for lesson in range(lessons.shape[0]):
        learn(rule, state, memo, int(lessons[lesson, 0]), lessons[lesson, 1], 1.0, rng)
    for t in range(out.size):
        point(rng, t, CHOOSE)
        out[t] = choose(rule, state, memo, 1.0, rng)


@pytest.mark.parametrize("policy", ["epsilon-greedy(epsilon=0)", "ucb1"])
@pytest.mark.parametrize(
    ("first", "second"), [((1, 0, 0), (1, 0, 0)), ((1, 0, 0), (0, 0, 1)), ((0, 1, 0, 1, 1), (1, 1, 1, 0, 0))]
)
def test_equal_means_are_a_tie(policy: str, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assembled = as_policy(policy).assemble(TrialShape(2))
    lessons = np.array([(arm, reward) for arm, rewards in enumerate((first, second)) for reward in rewards], float)
    chosen = np.zeros(2000)
    chosen_after(assembled.rule, assembled.state.copy(), np.zeros(0), stream(0, 0), lessons, chosen)
    assert stats.binomtest(int(chosen.sum()), len(chosen), 0.5).pvalue > 1e-4
