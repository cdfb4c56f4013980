"""The oracle's guards, by hand."""

from __future__ import annotations

from random import Random

import pytest

from . import BurnIn, Exp3, Floor, HierarchicalBandit, Plain, ThompsonBounded, Ucb1, clipped


def test_clipping_by_hand() -> None:
    assert clipped([0.02, 0.98], [0.1, 0.1]) == pytest.approx([0.1, 0.9])
    # The first step leaves 0.9 · 0.11 / 0.95 = 0.104 to the second arm, which is below its minimum only now.
    assert clipped([0.05, 0.11, 0.84], [0.1, 0.105, 0.1]) == pytest.approx([0.1, 0.105, 0.795])
    assert clipped([0.0, 0.0, 1.0], [0.2, 0.3, 0.5]) == pytest.approx([0.2, 0.3, 0.5])


@pytest.mark.parametrize(("clips", "law"), [(False, [0.6, 0.4]), (True, [0.7, 0.3])])
def test_floor_by_hand(clips: bool, law: list[float]) -> None:
    learner = Ucb1(2)
    learner.counts = [0, 5]  # so that arm 0 is certain
    floor = Floor(Plain(learner), share=0.2, control=0.4, clips=clips)
    floor.minima = [0.2, 0.3] if clips else [0.2, 0.4]
    assert floor.probabilities() == pytest.approx(law)


def test_a_floors_round_is_overheard_and_weighed_by_what_the_arm_had() -> None:
    expert, other, top = Exp3(2, gamma=0.5), Exp3(2, gamma=0.5), Exp3(2, gamma=0.5)
    floor = Floor(HierarchicalBandit([(expert, "chosen"), (other, "actual")], top), share=0.1, control=0.3)
    choices = ((floor.choose(Random(seed)), floor.inner_decided) for seed in range(50))
    chosen = next(arm for arm, inner_decided in choices if not inner_decided)
    floor.update(chosen, 1 - chosen, 0.6, Random(0))
    had = [0.3 + 0.6 * 0.5, 0.1 + 0.6 * 0.5]
    assert expert.log_weights[chosen] == pytest.approx(0.5 / 2 * 0.6 / had[chosen])
    assert other.log_weights[1 - chosen] == pytest.approx(0.5 / 2 * 0.6 / had[1 - chosen])
    assert top.log_weights == [0.0, 0.0]
    assert expert.guards == []


def test_a_guards_round_teaches_a_literal_thompson_bounded() -> None:
    learner = Ucb1(2)
    floor = Floor(ThompsonBounded(Plain(learner), recycle=True, literal=True), share=0.5)
    chosen = floor.choose(Random(1))
    floor.update(chosen, chosen, 1.0, Random(1))
    inner = floor.inner
    assert isinstance(inner, ThompsonBounded)
    assert inner.thompson.successes[chosen] == 1.0
    assert learner.counts[chosen] == 1
    assert not inner.cache.holds(chosen)


def test_blocks_are_balanced_and_stated_place_by_place() -> None:
    rng, policy, arms = Random(2), BurnIn(Plain(Ucb1(3)), patients=9, block=6), list[int]()
    for number in range(10):
        chosen = policy.choose(rng)
        so_far = arms[number - number % 6 :]
        if number < 9:
            left = [2 - so_far.count(arm) for arm in range(3)]
            assert policy.probabilities() == pytest.approx([n / sum(left) for n in left])
        arms.append(chosen)
        policy.update(chosen, chosen, 1.0, rng)
    assert sorted(arms[:6]) == [0, 0, 1, 1, 2, 2]
    assert policy.inner_decided
