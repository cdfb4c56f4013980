"""A recommendation's memo is that of its own draw, not of the draws by which probabilities are estimated.

`contract.test_replaying_choices` compares the memos of every policy of the battery.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adhere import Trial, import_policies, parse_policy
from adhere.compilation import memo_of, state_of
from adhere.policies.base.generic import choose, remember, update
from adhere.policies.base.policy import TrialShape
from adhere.randomness import CHOOSE, LEARN, point, stream

import_policies(Path(__file__).with_name("noting.py"))
import_policies(Path(__file__).parents[2] / "docs" / "examples" / "borrowing.py")
HYBRID = "hierarchical(experts=[exp3(gamma=0.2), borrowing], top=noting)"


def test_what_choose_writes_into_the_memo_stays_there() -> None:
    trial = Trial("noting", ("a", "b"), seed=3)
    for _ in range(400):
        recommendation = trial.recommend()
        assert recommendation.estimated
        assert recommendation.memo == (trial.arms.index(recommendation.arm),)
        trial.report(recommendation.id, reward=1)
    assert sum(trial.state[:2]) == 400
    assert trial.state[2:] == (0.0, 0.0)


def test_a_hierarchy_keeps_what_its_top_wrote_when_it_chose() -> None:
    """The certified expert's weight needs the top's probabilities, which are estimated by choosing again."""
    compiled = parse_policy(HYBRID).assemble(TrialShape(2))
    rule, rng = compiled.rule, stream(4, 0)
    state = state_of(rule, compiled.state)
    memo = memo_of(rule, np.zeros(compiled.memo_size + compiled.scratch_size))
    drawn = set()
    with np.errstate(over="ignore"):
        for t in range(40):
            point(rng, t, CHOOSE)
            remember(rule, state, memo)
            chosen = choose(rule, state, memo, 1.0, rng)
            assert memo.top.noted == memo.drawn
            drawn.add(memo.drawn)
            point(rng, t, LEARN)
            update(rule, state, memo, chosen, chosen, 1.0, 1.0, rng)
    assert drawn == {0, 1}
    assert sum(state.top.disagreements) == 0.0


@pytest.mark.slow
def test_compiled_code_keeps_it_too() -> None:
    trial = Trial(HYBRID, ("a", "b"), seed=3)
    for _ in range(20):
        trial.report(trial.recommend().id, actual="a", reward=1)
    assert (sum(trial.state[:2]), sum(trial.state[2:4])) == (20.0, 0.0)
