"""The oracle's learners and whole laws, against what can be worked out by hand or in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from random import Random
from statistics import fmean, stdev

import pytest

from . import (
    EpsilonGreedy,
    Exp3,
    Plain,
    PolicyMaker,
    Thompson,
    Ucb1,
    credit_table,
    default_gamma,
    epsilon_greedy,
    exp3,
    hedge,
    hierarchical,
    hierarchical_hedge,
    plain,
    play,
    simulate,
    thompson,
    thompson_bounded,
    ucb1,
    uniform,
)
from .simulation import drawer

RNG = Random(0)  # for updates whose outcome is certain

# Half the patients comply; the rest take the other arm. Arm 1, taken, is better; one reward is not 0 or 1.
MIXED = [
    [(0.2, 0, 1.0), (0.3, 0, 0.0), (0.4, 1, 1.0), (0.1, 1, 0.25)],
    [(0.4, 1, 1.0), (0.1, 1, 0.0), (0.2, 0, 1.0), (0.3, 0, 0.25)],
]


@cache
def exact_probability_of_second(a: int, b: int, c: int, d: int) -> Fraction:
    """P(θ₁ > θ₀) for θ₀ ~ Beta(a, b), θ₁ ~ Beta(c, d): Σ_{i<c} B(a+i, b+d) / ((d+i) B(1+i, d) B(a, b))."""

    def beta(x: int, y: int) -> Fraction:
        return Fraction(math.factorial(x - 1) * math.factorial(y - 1), math.factorial(x + y - 1))

    total = Fraction(0)
    for i in range(c):
        total += beta(a + i, b + d) / ((d + i) * beta(1 + i, d) * beta(a, b))
    return total


def assert_mean(values: list[float], expected: float) -> None:
    error = stdev(values) / math.sqrt(len(values))
    assert abs(fmean(values) - expected) < 4.5 * error


def test_epsilon_schedule_counts_own_updates() -> None:
    learner = EpsilonGreedy(2)
    assert learner.epsilon() == 1.0
    for _ in range(9):
        learner.update(1, 1.0, RNG)
    epsilon = 1 / math.log(10 + 1e-7)
    assert learner.epsilon() == epsilon
    assert learner.probabilities() == pytest.approx([epsilon / 2, 1 - epsilon / 2])


def test_epsilon_greedy_ties_include_uncredited_arms() -> None:
    learner = EpsilonGreedy(3, epsilon=0.3)
    learner.update(0, 0.0, RNG)  # mean 0, as the two uncredited arms
    assert learner.probabilities() == pytest.approx([1 / 3] * 3)
    learner.update(1, 0.5, RNG, weight=7.0)  # the weight is ignored
    assert (learner.counts, learner.sums) == ([1, 1, 0], [0.0, 0.5, 0.0])
    assert learner.probabilities() == pytest.approx([0.1, 0.8, 0.1])


def test_ucb1_index() -> None:
    learner = Ucb1(3)
    for arm, reward in [(0, 1.0), (0, 1.0), (0, 0.0), (1, 1.0)]:
        learner.update(arm, reward, RNG)
    assert learner.indices()[2] == math.inf
    assert learner.probabilities() == [0.0, 0.0, 1.0]
    learner.update(2, 0.5, RNG)
    expected = [2 / 3 + math.sqrt(2 * math.log(5) / 3), 1 + math.sqrt(2 * math.log(5)), 0.5]
    expected[2] += math.sqrt(2 * math.log(5))
    assert learner.indices() == pytest.approx(expected)
    assert learner.probabilities() == [0.0, 1.0, 0.0]


def test_exp3_after_two_updates() -> None:
    learner = Exp3(2, gamma=0.5)
    learner.update(0, 1.0, RNG)  # r̂ = 1 / ½ = 2, so ln w₀ = ½ · 2 / 2
    p1 = 0.5 / (math.exp(0.5) + 1) + 0.25
    assert learner.probabilities() == pytest.approx([1 - p1, p1])
    learner.update(1, 0.6, RNG, weight=3.0)
    assert learner.log_weights == pytest.approx([0.5, 0.5 * (3 * 0.6 / p1) / 2])


def test_default_gamma() -> None:
    assert default_gamma(3, 10_000) == pytest.approx(math.sqrt(3.2958369 / 17182.818))
    assert default_gamma(2, 1) == pytest.approx(math.sqrt(2 * math.log(2) / (math.e - 1)))
    assert default_gamma(10, 1) == 1.0


@pytest.mark.parametrize(
    ("successes", "failures", "weight"), [((0, 0), (0, 0), 1), ((3, 1), (2, 4), 1), ((5, 2), (1, 0), 3)]
)
def test_two_arm_thompson_is_exact(successes: tuple[int, int], failures: tuple[int, int], weight: int) -> None:
    learner = Thompson(2)
    learner.successes, learner.failures = [float(s) for s in successes], [float(f) for f in failures]
    a, c = (s + weight for s in successes)
    b, d = (f + weight for f in failures)
    exact = float(exact_probability_of_second(a, b, c, d))
    assert learner.probabilities(weight)[1] == pytest.approx(exact, abs=2e-5)
    rng = Random(1)
    assert_mean([float(learner.choose(rng, weight)) for _ in range(20_000)], exact)


def test_three_arm_thompson_law() -> None:
    learner = Thompson(3)
    learner.successes[0] = 1.0  # densities 2x, 1, 1: P(arm 0) = ∫ 2x · x² dx
    assert learner.probabilities() == pytest.approx([1 / 2, 1 / 4, 1 / 4], abs=1e-5)


def test_thompson_draws_fractional_rewards_and_weighs_them() -> None:
    learner, rng = Thompson(1), Random(2)
    for _ in range(10_000):
        learner.update(0, 0.3, rng, weight=2.5)
    assert learner.successes[0] + learner.failures[0] == 25_000
    assert abs(learner.successes[0] / 25_000 - 0.3) < 4.5 * math.sqrt(0.21 / 10_000)


def test_whole_law_of_thompson_under_chosen() -> None:
    """Expected pulls of arm 1 in eight rounds, by exact recursion over all histories."""
    mu = (Fraction(3, 10), Fraction(6, 10))

    @cache
    def pulls(a: int, b: int, c: int, d: int, left: int) -> Fraction:
        if left == 0:
            return Fraction(0)
        p = exact_probability_of_second(a, b, c, d)
        first = mu[0] * pulls(a + 1, b, c, d, left - 1) + (1 - mu[0]) * pulls(a, b + 1, c, d, left - 1)
        second = mu[1] * pulls(a, b, c + 1, d, left - 1) + (1 - mu[1]) * pulls(a, b, c, d + 1, left - 1)
        return p * (1 + second) + (1 - p) * first

    population = [[(float(m), arm, 1.0), (float(1 - m), arm, 0.0)] for arm, m in enumerate(mu)]
    counts = simulate(plain(thompson()), population, n_patients=8, n_runs=4000, seed=3)
    assert_mean([float(run[1]) for run in counts], float(pulls(1, 1, 1, 1, 8)))


def test_whole_law_of_thompson_bounded_in_two_rounds() -> None:
    """Arm 1 always pays and arm 0 never: ½ + ½ · 16/27 + ½ · ½ pulls of arm 1.

    Round one is even. Thompson had it with probability ½, and then p = ⅔ whatever the arm, Σp² = 5/9 and arm 1 has
    probability 5/9 · ⅔ + 4/9 · ½ = 16/27; if not, round two is even again.
    """
    maker = thompson_bounded(plain(uniform()))
    counts = simulate(maker, [[(1.0, 0, 0.0)], [(1.0, 1, 1.0)]], n_patients=2, n_runs=20_000, seed=4)
    assert_mean([float(run[1]) for run in counts], 113 / 108)


def test_protocols() -> None:
    assert credit_table("chosen", 2) == [[0, 0], [1, 1]]
    assert credit_table("actual", 2) == [[0, 1], [0, 1]]
    assert credit_table("comply", 3) == [[0, None, None], [None, 1, None], [None, None, 2]]
    with pytest.raises(ValueError, match="tactual"):
        credit_table("tactual", 2)
    learner = EpsilonGreedy(2)
    policy = Plain(learner, [[None, 0], [0, None]])  # learn from those who take another arm, on arm 0
    for chosen, actual in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        policy.update(chosen, actual, 1.0, RNG)
    assert learner.counts == [2, 0]


POLICIES = {
    "uniform": plain(uniform()),
    "ucb1/comply": plain(ucb1(), "comply"),
    "epsilon-greedy/actual": plain(epsilon_greedy(), "actual"),
    "exp3/table": plain(exp3(0.2), [[0, 1], [None, 1]]),
    "hierarchical(thompson)": hierarchical(thompson()),
    "bounded, recycle": thompson_bounded(hierarchical(epsilon_greedy()), recycle=True),
}


@pytest.mark.parametrize("name", POLICIES)
def test_choose_follows_probabilities(name: str) -> None:
    maker: PolicyMaker = POLICIES[name]
    rng = Random(name)
    policy = maker(2, 40)
    arms = play(policy, drawer(MIXED), 40, rng)
    assert len(arms) == 40
    law = policy.probabilities()
    assert sum(law) == pytest.approx(1.0)
    n = 5000
    pulls = sum(policy.choose(rng) for _ in range(n))
    assert abs(pulls / n - law[1]) <= 4.5 * math.sqrt(law[0] * law[1] / n) + 1e-9


def test_simulate_is_reproducible_and_counts_every_patient() -> None:
    counts = simulate(POLICIES["bounded, recycle"], MIXED, 20, 5, seed=6)
    assert counts == simulate(POLICIES["bounded, recycle"], MIXED, 20, 5, seed=6)
    assert counts != simulate(POLICIES["bounded, recycle"], MIXED, 20, 5, seed=7)
    assert [sum(run) for run in counts] == [20] * 5


def test_hedge_by_hand() -> None:
    run = hedge([[0.0, 1.0], [1.0, 0.5]], eta=math.log(4))
    assert run.losses == pytest.approx([0.5, 0.8 * 1.0 + 0.2 * 0.5])
    assert run.mixtures[-1] == pytest.approx([2 / 3, 1 / 3])  # weights ¼ and ¼ · ½


def test_hierarchical_hedge_by_hand() -> None:
    run = hierarchical_hedge([[[0.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]], eta=math.log(4), rho=math.log(3))
    # Compound losses ½ and 1, so v = (½, ¼) and x = (⅔, ⅓); then y₀ = (¾, ¼).
    assert run.losses == pytest.approx([0.75, 2 / 3 * 1 / 4])
    assert run.tops[1] == pytest.approx([2 / 3, 1 / 3])
    assert run.bottoms[1] == [pytest.approx([3 / 4, 1 / 4]), pytest.approx([1 / 2, 1 / 2])]
    assert run.bottoms[2][0] == pytest.approx([9 / 10, 1 / 10])
