from __future__ import annotations

import numpy as np
import pytest

from adhere import Recommendation, Trial, parse_policy
from adhere.policies.base.policy import TrialShape
from adhere.policies.hybrids.experts import set_of

from .reference import chances_of_largest

pytestmark = pytest.mark.usefixtures("uncompiled")
ARMS = ("a", "b")
PLAIN, LITERAL = "thompson-bounded(thompson/actual)", "thompson-bounded(thompson/actual, literal=true)"
RECYCLING = "thompson-bounded(thompson/actual, recycle=true)"
SAMPLER, INNER, CACHE = slice(0, 7), slice(7, 14), slice(14, 20)
BY_SAMPLER, BY_INNER = 0.0, 1.0


def observed(state: tuple[float, ...]) -> float:
    """How many lessons a two-arm Thompson sampler has had."""
    return sum(state[:4]) - 4


def play(policy: str, n_rounds: int, seed: int = 5) -> tuple[Trial, list[Recommendation]]:
    """Everybody takes b; odd patients gain."""
    trial, made = Trial(policy, ARMS, seed), []
    for t in range(n_rounds):
        made.append(trial.recommend())
        trial.report(made[-1].id, actual="b", reward=t % 2)
    return trial, made


def test_the_sampler_learns_from_its_own_pulls_and_the_inner_policy_from_every_round() -> None:
    trial, made = play(PLAIN, 40)
    own = [one for one in made if one.memo[0] == BY_SAMPLER]
    assert 0 < len(own) < 40
    assert observed(trial.state[SAMPLER]) == len(own)
    for place, arm in enumerate(ARMS):
        pulls = trial.state[place] + trial.state[2 + place] - 2
        assert pulls == sum(one.arm == arm for one in own)
    assert observed(trial.state[INNER]) == 40


def test_read_literally_the_inner_policy_learns_from_its_own_rounds_only() -> None:
    trial, made = play(LITERAL, 40)
    own = sum(one.memo[0] == BY_SAMPLER for one in made)
    assert 0 < own < 40
    assert observed(trial.state[SAMPLER]) == own
    assert observed(trial.state[INNER]) == 40 - own


def test_recycled_outcomes_teach_the_sampler_and_leave_the_cache() -> None:
    trial, made = play(RECYCLING, 60)
    own = sum(one.memo[0] == BY_SAMPLER for one in made)
    recycled = [one for one in made if one.memo[1] >= 0]
    assert recycled
    assert all(one.memo[0] == BY_INNER for one in recycled)
    assert observed(trial.state[SAMPLER]) == own + len(recycled)
    cache = np.array(trial.state[CACHE])
    assert cache[:2] == pytest.approx(cache[2:].reshape(2, 2).sum(axis=1))
    assert cache[:2].sum() == (60 - own) - len(recycled)
    assert (cache >= 0).all()


@pytest.mark.parametrize("policy", [PLAIN, LITERAL, RECYCLING])
def test_chances_by_hand(policy: str) -> None:
    """s·p_j + (1 - s)·h_j with s = Σ p²; an arm whose outcome is kept gives its share to the inner policy."""
    trial, _ = play(policy, 12)
    state = trial.state
    p = np.array(chances_of_largest(state[:2], state[2:4]))
    h = np.array(chances_of_largest(state[INNER][:2], state[INNER][2:4]))
    kept = np.array(state[CACHE][:2]) > 0 if policy == RECYCLING else np.zeros(2, bool)
    pulled = np.where(kept, 0.0, (p**2).sum() * p)
    found = list(trial.recommend().probabilities.values())
    assert found == pytest.approx(pulled + (1 - pulled.sum()) * h, abs=1e-9)


def test_before_anything_is_known_half_the_rounds_are_the_samplers() -> None:
    made = [Trial(PLAIN, ARMS, seed).recommend() for seed in range(400)]
    own = sum(one.memo[0] == BY_SAMPLER for one in made)
    assert abs(own - 200) < 4 * 10


def test_the_inner_hierarchy_is_not_certified_unless_read_literally() -> None:
    for literal, certified in ((False, [False] * 3), (True, [True, False, False])):
        policy = parse_policy(f"thompson-bounded(hierarchical(epsilon-greedy), literal={str(literal).lower()})")
        rule = policy.resolved(2, 100).assemble(TrialShape(2)).rule
        assert rule.inner.certified == set_of(certified)


def test_the_top_of_the_inner_hierarchy_learns_only_from_the_rounds_it_decided() -> None:
    trial = Trial("thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.2)))", ARMS, seed=1)
    top = slice(7, 10)
    seen = set()
    for _ in range(20):
        recommendation = trial.recommend()
        before = trial.state[top]
        trial.report(recommendation.id, actual="b", reward=1)
        by_sampler = recommendation.memo[0] == BY_SAMPLER
        assert (trial.state[top] == before) == by_sampler
        seen.add(by_sampler)
    assert seen == {True, False}


def test_deciders_are_the_sampler_and_the_inner_policys() -> None:
    assembled = parse_policy("thompson-bounded(hierarchical(ucb1))").resolved(2, 100).assemble(TrialShape(2))
    assert assembled.components == ("thompson (certified)", "ucb1", "ucb1/actual", "ucb1/comply")
