"""Pooling by the arm taken: does a policy that believes in it go on filling the cells that would refute it?"""

from __future__ import annotations

from adhere import simulate

from .test_theorems import CONFOUNDED


def test_only_a_policy_that_never_doubts_pools_for_ever() -> None:
    """What was taken points to the harmful arm, and only those told the other one could show it.

    With odds=inf nobody is heard: regret is linear. With finite odds the confounded hypothesis keeps recommending
    the other arm now and then, until its cells have refuted the mediated one.
    """
    policies = ["thompson", "mediated-thompson(odds=inf)", "mediated-thompson", "mediated-thompson(fading_odds=10)"]
    result = simulate(policies, CONFOUNDED, 10**5, 20, seed=5, grid=[10**4, 10**5], progress=False)
    thompson, never_doubts, *doubting = (one.trajectory("regret").mean for one in result)
    assert never_doubts[0] > 0.9 * 0.1 * 10**4  # 0.1 for nine patients of ten
    assert never_doubts[1] > 9 * never_doubts[0]
    for regret in doubting:
        assert regret[1] < 2 * regret[0]  # log T makes it 1.25 times as much, √T 3.2 times
        assert regret[1] < 3 * thompson[1]
