"""A policy of a user's own that picks an arm there is not must be told so, not crash."""

from __future__ import annotations

import pytest

import adhere

POLICY = """
from adhere.policies import Learner, choose, implements, learn, parameter, policy

@policy("wrong")
class Wrong(Learner):
    arm: float = parameter(default=0)

@implements(choose, Wrong)
def choose_wrong(rule, state, memo, weight, rng):
    return int(rule.arm)

@implements(learn, Wrong)
def learn_nothing(rule, state, memo, arm, reward, weight, rng):
    pass
"""


@pytest.fixture(scope="module", autouse=True)
def _declared(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("policies") / "wrong.py"
    file.write_text(POLICY)
    adhere.import_policies(file)


@pytest.mark.parametrize("arm", [2, -1])
def test_an_arm_there_is_not(arm: int) -> None:
    policy = {"name": "wrong", "arm": arm}
    failed = rf"^wrong\(arm={arm}\) failed at .*wrong.py line 10: choose returns {arm}; it must return a whole"
    with pytest.raises(adhere.PolicyError, match=failed + r" number .* \(patient 1 of run 1 on defiers\)$"):
        adhere.simulate(policy, "defiers", n_patients=10, n_runs=2)
    expected = rf"^arm chosen by wrong\(arm={arm}\): got {arm}, expected a"
    with pytest.raises(adhere.InputError, match=expected):
        adhere.Trial(policy, arms=["a", "b"]).recommend()
