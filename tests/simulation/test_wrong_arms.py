"""A policy of a user's own that picks an arm there is not must be told so, not crash."""

from __future__ import annotations

from pathlib import Path

import pytest

import adhere

POLICY = """
from adhere.policies import Learner, choose, implements, learn, policy

@policy("{name}")
class Wrong(Learner):
    pass

@implements(choose, Wrong)
def choose_wrong(rule, state, memo, weight, rng):
    return {arm}

@implements(learn, Wrong)
def learn_nothing(rule, state, memo, arm, reward, weight, rng):
    pass
"""


@pytest.mark.parametrize(("name", "arm"), [("too-high", 2), ("too-low", -1)])
def test_an_arm_there_is_not(tmp_path: Path, name: str, arm: int) -> None:
    (tmp_path / "wrong.py").write_text(POLICY.format(name=name, arm=arm))
    adhere.import_policies(tmp_path / "wrong.py")
    expected = f"arm chosen by {name}: got {arm}, expected a"
    with pytest.raises(adhere.InputError, match=expected):
        adhere.simulate(name, "defiers", n_patients=10, n_runs=2)
    with pytest.raises(adhere.InputError, match=expected):
        adhere.Trial(name, arms=["a", "b"]).recommend()
