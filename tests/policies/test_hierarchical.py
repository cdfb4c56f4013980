from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from adhere import (
    EpsilonGreedy,
    HierarchicalBandit,
    InputError,
    Recommendation,
    Trial,
    Ucb1,
    import_policies,
    parse_policy,
)
from adhere.policies.base.policy import TrialShape
from adhere.policies.hybrids.experts import set_of
from adhere.randomness import stream
from adhere.trial.policy.steps import CHOOSE_ARM

pytestmark = pytest.mark.usefixtures("uncompiled")
ARMS = ("a", "b")
PLAIN = "hierarchical(ucb1, top=epsilon-greedy)"
RECYCLING = "hierarchical(ucb1, recycle=true)"
# ε-greedy over three experts holds 7 numbers, EXP3 holds 3; then each expert's UCB1 holds 5.
COUNTS = slice(0, 2)


def rounds(trial: Trial, n_rounds: int, taken: str | None = None) -> Iterator[tuple[Recommendation, int]]:
    """Rounds in which everybody complies, or takes one arm, and odd patients gain 1; with who was drawn for each."""
    for t in range(n_rounds):
        recommendation = trial.recommend()
        drawn = int(recommendation.memo[0])
        trial.report(recommendation.id, actual=taken or recommendation.arm, reward=t % 2)
        yield recommendation, drawn


def experts(trial: Trial, top: int) -> list[tuple[float, ...]]:
    """The state of each of three UCB1 experts over two arms."""
    return [trial.state[top + 5 * i : top + 5 * (i + 1)] for i in range(3)]


def test_the_top_learns_every_round_who_was_drawn() -> None:
    trial = Trial(PLAIN, ARMS, seed=2)
    counts = np.zeros(3)
    for _, drawn in rounds(trial, 30):
        counts[drawn] += 1
        assert trial.state[:3] == tuple(counts)
    assert (counts > 0).all()


def test_the_certified_expert_learns_its_own_rounds_and_the_others_all_that_their_protocol_credits() -> None:
    trial = Trial(PLAIN, ARMS, seed=2)
    certified, complied = np.zeros(2), 0
    for recommendation, drawn in rounds(trial, 30, taken="b"):
        chosen = ARMS.index(recommendation.arm)
        certified[chosen] += drawn == 0
        complied += chosen == 1
    of_chosen, of_actual, of_comply = experts(trial, top=10)
    assert of_chosen[COUNTS] == tuple(certified)
    assert of_actual[COUNTS] == (0.0, 30.0)
    assert of_comply[COUNTS] == (0.0, complied)
    assert 0 < certified.sum() < 30


def test_with_exp3_on_top_the_first_lessons_by_hand() -> None:
    trial = Trial("hierarchical(epsilon-greedy, top=exp3(gamma=0.3))", ARMS, seed=1)
    first = trial.recommend()
    drawn = int(first.memo[0])
    assert first.memo[2:5] == pytest.approx([1 / 3] * 3)
    trial.report(first.id, actual=first.arm, reward=1)
    raised = 0.3 / 3 / (1 / 3)
    assert trial.state[drawn] == pytest.approx(raised)
    weights = [math.exp(raised) if i == drawn else 1.0 for i in range(3)]
    expected = [0.7 * weight / sum(weights) + 0.1 for weight in weights]
    assert trial.recommend().memo[2:5] == pytest.approx(expected)


def test_only_the_certified_experts_lesson_has_the_weight_of_its_draw() -> None:
    """EXP3's logarithms rise by γ/k · weight · reward / probability; the top draws each of three experts by 1/3."""
    for seed in range(20):
        trial = Trial("hierarchical(exp3(gamma=0.1), top=exp3(gamma=0.3))", ARMS, seed=seed)
        first = trial.recommend()
        if int(first.memo[0]) == 0:  # the certified one
            break
    trial.report(first.id, actual=first.arm, reward=1)
    logarithms = [trial.state[6 + 4 * expert + ARMS.index(first.arm)] for expert in range(3)]
    assert logarithms == pytest.approx([0.05 * 3.0 / 0.5, 0.05 / 0.5, 0.05 / 0.5])


def test_a_recycling_expert_learns_from_what_it_keeps_of_rounds_it_was_not_drawn_for() -> None:
    trial = Trial(RECYCLING, ARMS, seed=3, n_patients=60)
    own, kept_before, recycled = 0, 0.0, 0
    for _, drawn in rounds(trial, 60):
        # After EXP3's 6 numbers and three experts of 5, a cache for each: 2 totals, then 2 rows of counts of 0 and 1.
        totals, counts = np.array(trial.state[21:23]), np.array(trial.state[23:27]).reshape(2, 2)
        assert (counts >= 0).all()
        assert totals.tolist() == counts.sum(axis=1).tolist()
        own += drawn == 0
        if drawn != 0:  # the round is kept; an outcome kept earlier may have been taken for a lesson
            recycled += int(kept_before + 1 - totals.sum())
        else:
            assert totals.sum() == kept_before
        assert sum(experts(trial, top=6)[0][COUNTS]) == own + recycled
        kept_before = totals.sum()
    assert recycled > 5
    assert trial.state[27:] == (0.0,) * 12  # the other experts are not certified and keep nothing


def test_recycling_needs_a_certified_expert() -> None:
    text = "hierarchical(experts=[ucb1/actual, ucb1/comply], recycle={})"
    with_cache = parse_policy(text.format("true")).resolved(2, 10).assemble(TrialShape(2))
    without = parse_policy(text.format("false")).resolved(2, 10).assemble(TrialShape(2))
    assert type(with_cache.rule.cache) is type(without.rule.cache)
    assert with_cache.state.size == without.state.size


def test_an_expert_whose_table_is_chosens_is_certified() -> None:
    assembled = parse_policy("hierarchical(experts=[ucb1/credit[0 0; 1 1], ucb1/actual, ucb1])").resolved(2, 10)
    assert assembled.assemble(TrialShape(2)).rule.certified == set_of([True, False, True])
    assert assembled.assemble(TrialShape(2), certified=False).rule.certified == 0


def test_deciders_are_the_experts() -> None:
    policy = parse_policy("hierarchical(ucb1)").resolved(2, 10)
    assert policy.assemble(TrialShape(2)).components == ("ucb1", "ucb1/actual", "ucb1/comply")
    assert [str(learner) for learner in policy.learners()][:3] == ["ucb1", "ucb1/actual", "ucb1/comply"]


def test_experts_may_be_given_as_a_list() -> None:
    one = HierarchicalBandit(experts=[Ucb1(), EpsilonGreedy(protocol="actual")])  # type: ignore[arg-type]
    assert one == parse_policy("hierarchical(experts=[ucb1, epsilon-greedy/actual])")
    assert isinstance(hash(one), int)


def test_a_credit_table_must_fit_the_arms() -> None:
    policy = parse_policy("hierarchical(experts=[ucb1/credit[0 1; 0 1], ucb1], top=ucb1)")
    with pytest.raises(InputError, match="a table of 3 × 3 for 3 arms"):
        Trial(policy, ("a", "b", "c"))


SELDOM = '''
from adhere.policies import Learner, choose, implements, learn, policy
from adhere.randomness import uniform

@policy("seldom-first")
class SeldomFirst(Learner):
    """The first arm once in 2000, and no word of its probabilities."""

@implements(choose, SeldomFirst)
def choose_seldom_first(rule, state, memo, weight, rng):
    return 0 if uniform(rng) < 0.0005 else 1

@implements(learn, SeldomFirst)
def learn_seldom_first(rule, state, memo, arm, reward, weight, rng):
    pass
'''


def test_the_certified_experts_weight_is_finite_even_if_its_chance_was_estimated_as_zero(tmp_path: Path) -> None:
    """A thousand draws may miss the expert that was drawn; an infinite weight would hang Thompson's next draw."""
    file = tmp_path / "seldom.py"
    file.write_text(SELDOM)
    import_policies(file)
    policy = parse_policy("hierarchical(exp3(gamma=0.2), top=seldom-first)")
    compiled = policy.assemble(TrialShape(2))
    rule, state = compiled.rule, compiled.state
    memo, rng = np.zeros(compiled.memo_size + compiled.scratch_size), stream(0, 0)
    choose_arm = CHOOSE_ARM.compiled(rule, state, memo, rng, 0)
    weights = []
    for decision in range(20_000):
        choose_arm(rule, state, memo, rng, decision)
        if memo[0] == 0:
            weights.append(memo[1])
    assert len(weights) > 3
    assert np.isfinite(weights).all()
