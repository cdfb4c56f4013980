"""Who learns what, and when, in the oracle's hybrids."""

from __future__ import annotations

import math
from random import Random

import pytest

from . import (
    Cache,
    EpsilonGreedy,
    Exp3,
    HierarchicalBandit,
    Learner,
    Thompson,
    ThompsonBounded,
)
from .policy import Plain


class Diary(Learner):
    """Picks arms by fixed probabilities and writes down all it is told."""

    weighted = True

    def __init__(self, law: list[float]) -> None:
        super().__init__(len(law))
        self.law = law
        self.told: list[tuple[int, float, float]] = []

    def choose(self, rng: Random, weight: float = 1.0) -> int:
        return rng.choices(range(self.n_arms), weights=self.law)[0]

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.told.append((arm, reward, weight))

    def probabilities(self, weight: float = 1.0) -> list[float]:
        return self.law


def three_diaries(top: list[float], recycle: bool = False) -> tuple[HierarchicalBandit, list[Diary], Diary]:
    experts = [Diary([0.5, 0.5]) for _ in range(3)]
    over = Diary(top)
    protocols = ("chosen", "actual", "comply")
    return HierarchicalBandit(list(zip(experts, protocols, strict=True)), over, recycle), experts, over


def test_hierarchical_bandit_when_the_certified_expert_is_drawn() -> None:
    policy, experts, top = three_diaries([0.25, 0.5, 0.25])
    policy.drawn, policy.weight = 0, policy.weight_of(0)
    policy.update(1, 0, 1.0, Random(0))
    assert [expert.told for expert in experts] == [[(1, 1.0, 4.0)], [(0, 1.0, 1.0)], []]
    assert top.told == [(0, 1.0, 1.0)]


def test_hierarchical_bandit_when_another_expert_is_drawn() -> None:
    policy, experts, top = three_diaries([0.25, 0.5, 0.25])
    policy.drawn, policy.weight = 2, policy.weight_of(2)
    policy.update(1, 1, 0.5, Random(0))
    assert [expert.told for expert in experts] == [[], [(1, 0.5, 1.0)], [(1, 0.5, 1.0)]]
    assert top.told == [(2, 0.5, 1.0)]


def test_every_expert_under_chosen_is_certified() -> None:
    experts = [Diary([0.5, 0.5]), Diary([0.5, 0.5]), EpsilonGreedy(2)]
    policy = HierarchicalBandit([(expert, "chosen") for expert in experts], Diary([0.5, 0.2, 0.3]))
    assert [policy.weight_of(i) for i in range(3)] == [2.0, 5.0, 1.0]  # ε-greedy is never weighted
    policy.drawn, policy.weight = 1, 5.0
    policy.update(0, 1, 1.0, Random(0))
    assert [expert.told for expert in experts if isinstance(expert, Diary)] == [[], [(0, 1.0, 5.0)]]


def test_hierarchical_exp3_base_divides_by_both_probabilities() -> None:
    base, other = Exp3(2, gamma=0.5), Exp3(2, gamma=0.5)
    policy = HierarchicalBandit([(base, "chosen"), (other, "actual")], Diary([0.2, 0.8]))
    policy.drawn, policy.weight = 0, policy.weight_of(0)
    policy.update(0, 1, 0.6, Random(0))
    assert base.log_weights == pytest.approx([0.5 / 2 * 0.6 / (0.2 * 0.5), 0.0])
    assert other.log_weights == pytest.approx([0.0, 0.5 / 2 * 0.6 / 0.5])  # its own probability of arm 1


def test_base_thompson_has_its_prior_weighted_too() -> None:
    policy = HierarchicalBandit([(Thompson(2), "chosen"), (Diary([0.0, 1.0]), "actual")], Diary([0.5, 0.5]))
    learner = policy.experts[0].learner
    assert isinstance(learner, Thompson)
    learner.successes[0] = 2.0
    # Beta(4, 2) against Beta(2, 2): ∫ 6x(1−x)(5x⁴ − 4x⁵) dx = 2/7; a prior of 1 would make it 1/4.
    assert policy.probabilities()[1] == pytest.approx(0.5 * 2 / 7 + 0.5, abs=1e-5)


def test_recycling_uses_each_outcome_once_and_learns_before_it_stores() -> None:
    policy, experts, _ = three_diaries([0.2, 0.4, 0.4], recycle=True)
    rng, n = Random(1), 3000
    for t in range(n):
        chosen = policy.choose(rng)
        reward = t / n  # a different one each round, so it names the round
        known = len(experts[0].told)
        policy.update(chosen, chosen, reward, rng)
        if policy.drawn != 0 and len(experts[0].told) > known:
            assert experts[0].told[-1][1] < reward
    told = [reward for _, reward, _ in experts[0].told]
    assert len(told) == len(set(told))
    assert len(told) > 0.95 * n
    assert {weight for _, _, weight in experts[0].told} == {1.0}


def learned_share_of_arm_0(helper_law: list[float], n: int) -> tuple[float, int]:
    """How an even certified expert shares its lessons between two arms, beside a helper that is not even."""
    certified, helper = Diary([0.5, 0.5]), Diary(helper_law)
    policy = HierarchicalBandit([(certified, "chosen"), (helper, "actual")], Diary([0.5, 0.5]), recycle=True)
    rng = Random(2)
    for _ in range(n):
        chosen = policy.choose(rng)
        policy.update(chosen, chosen, 1.0, rng)
    lessons = [arm for arm, _, _ in certified.told]
    return lessons.count(0) / len(lessons), len(lessons)


@pytest.mark.parametrize("helper_law", [[1.0, 0.0], [0.8, 0.2], [0.5, 0.5]])
def test_papers_example_of_bias_does_not_trouble_recycling(helper_law: list[float]) -> None:
    """§3.3: learning wherever both agree would give arm 0 two lessons in three; recycling keeps them even."""
    n = 10_000
    share, lessons = learned_share_of_arm_0(helper_law, n)
    assert abs(share - 0.5) < 4.5 * math.sqrt(0.25 / lessons)
    # The helper refills arm 1 with probability q on half the rounds, and lessons cost arm 1 half an outcome each.
    expected = n * (0.5 + min(0.5, helper_law[1]))
    assert abs(lessons - expected) < 0.04 * n


def test_papers_example_of_bias() -> None:
    """The naive rule itself: lessons of arm 0 in the ratio (½·½ + ½·½) to ½·½."""
    rng, lessons = Random(3), []
    for _ in range(20_000):
        own_arm = rng.randrange(2)
        executed = own_arm if rng.random() < 0.5 else 0
        if executed == own_arm:
            lessons.append(own_arm)
    assert abs(lessons.count(0) / len(lessons) - 2 / 3) < 4.5 * math.sqrt(2 / 9 / len(lessons))


def test_cache_draws_by_count_and_runs_dry() -> None:
    rng, firsts = Random(4), []
    for _ in range(5000):
        cache = Cache(2)
        for reward in (0.0, 1.0, 1.0, 1.0):
            cache.store(1, reward)
        taken = [cache.take(1, rng) for _ in range(4)]
        assert sorted(taken) == [0.0, 1.0, 1.0, 1.0]
        assert not cache.holds(1)
        firsts.append(taken[0])
    assert abs(sum(firsts) / 5000 - 0.75) < 4.5 * math.sqrt(0.1875 / 5000)


def bounded(recycle: bool = False, literal: bool = False) -> tuple[ThompsonBounded, list[Diary], Diary]:
    inner, experts, top = three_diaries([0.25, 0.5, 0.25])
    return ThompsonBounded(inner, recycle, literal), experts, top


@pytest.mark.parametrize("inner_decided", [True, False])
def test_thompson_bounded_in_our_reading(inner_decided: bool) -> None:
    policy, experts, top = bounded()
    policy.inner_decided = inner_decided
    policy.update(1, 0, 1.0, Random(0))
    assert [expert.told for expert in experts] == [[(1, 1.0, 1.0)], [(0, 1.0, 1.0)], []]
    assert len(top.told) == int(inner_decided)
    assert policy.thompson.successes == [0.0, 0.0 if inner_decided else 1.0]


@pytest.mark.parametrize("inner_decided", [True, False])
def test_thompson_bounded_read_literally(inner_decided: bool) -> None:
    policy, experts, top = bounded(literal=True)
    policy.choose(Random(0))
    inner = policy.inner
    assert isinstance(inner, HierarchicalBandit)
    inner.drawn, inner.weight = 0, inner.weight_of(0)
    policy.inner_decided = inner_decided
    policy.update(1, 0, 1.0, Random(0))
    own = [[(1, 1.0, 4.0)], [(0, 1.0, 1.0)], []]
    assert [expert.told for expert in experts] == (own if inner_decided else [[], [], []])
    assert len(top.told) == int(inner_decided)
    assert policy.thompson.successes == [0.0, 0.0 if inner_decided else 1.0]


@pytest.mark.parametrize(("literal", "lessons"), [(False, 2), (True, 1)])
def test_plain_learner_inside_thompson_bounded(literal: bool, lessons: int) -> None:
    diary = Diary([0.5, 0.5])
    policy = ThompsonBounded(Plain(diary, "actual"), literal=literal)
    for inner_decided in (True, False):
        policy.inner_decided = inner_decided
        policy.update(1, 0, 1.0, Random(0))
    assert diary.told == [(0, 1.0, 1.0)] * lessons


def test_thompson_bounded_arm_law_with_and_without_cache() -> None:
    policy = ThompsonBounded(Plain(Diary([0.1, 0.9])), recycle=True)
    policy.thompson.successes[0] = 1.0  # p = (2/3, 1/3), so the two samples agree with probability 5/9
    plain_law = 5 / 9 * 2 / 3 + 4 / 9 * 0.1
    assert policy.probabilities()[0] == pytest.approx(plain_law, abs=1e-5)
    policy.cache.store(0, 1.0)  # a third sample of arm 0 now leaves the round to the inner policy
    law = (1 - 5 / 27) * 0.1
    assert policy.probabilities()[0] == pytest.approx(law, abs=1e-5)
    rng, n = Random(5), 10_000
    pulls = sum(policy.choose(rng) == 0 for _ in range(n))
    assert abs(pulls / n - law) < 4.5 * math.sqrt(law * (1 - law) / n)


def test_thompson_bounded_recycles_each_outcome_once() -> None:
    policy, experts, top = bounded(recycle=True)
    policy.thompson = thompson = NotedThompson(2)
    rng, n, of_inner, recycled = Random(6), 3000, 0, 0
    for t in range(n):
        chosen = policy.choose(rng)
        of_inner += policy.inner_decided
        recycled += policy.recycled_arm is not None
        policy.update(chosen, chosen, t / n, rng)
    assert len(thompson.told) == len(set(thompson.told)) == n - of_inner + recycled
    assert sum(sum(counts.values()) for counts in policy.cache.stored) == of_inner - recycled
    assert recycled > 0
    assert len(top.told) == of_inner
    assert [len(expert.told) for expert in experts] == [n, n, n]


class NotedThompson(Thompson):
    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms)
        self.told: list[tuple[int, float]] = []

    def update(self, arm: int, reward: float, rng: Random, weight: float = 1.0) -> None:
        self.told.append((arm, reward))
        super().update(arm, reward, rng, weight)
