"""`mediated-thompson` against formulas worked out from its counts alone, by SciPy and NumPy.

The battery of `contract`, the oracle of `simulation.test_arm_by_arm` and the state machine of `trial.test_any_order`
see it too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln

import adhere
from adhere import InputError, parse_policy, simulate
from adhere.compilation import memo_of, state_of
from adhere.compilation.policy_failures import as_python
from adhere.contract.promises import late, repeatable, runs, works_in_hierarchy
from adhere.policies import TOOK_NOTHING, TOOK_OTHER, MediatedThompson
from adhere.policies.aware.mediated_thompson import choose_mediated, learn_mediated, probabilities_mediated
from adhere.policies.base.policy import TrialShape
from adhere.policies.base.registry import from_json
from adhere.policies.numerics import mediated_posterior
from adhere.policies.numerics.mediated_posterior import N_DRAWS
from adhere.randomness import CHOOSE, ESTIMATE, point, stream

from .reference import probability_of_largest

Lesson = tuple[int, int, float]  # chosen, taken, reward


class Taught:
    """The policy as plain Python, with its rule, its state and a stream."""

    def __init__(self, policy: MediatedThompson, n_arms: int, lessons: Sequence[Lesson] = ()) -> None:
        compiled = policy.resolved(n_arms, None).assemble(TrialShape(n_arms))
        self.rule, self.n_arms = compiled.rule, n_arms
        self.state = state_of(self.rule, compiled.state)
        self.memo = memo_of(self.rule, np.full(n_arms + 2, np.nan))  # with nothing in it that may be read
        self.counts = np.zeros((2, n_arms, n_arms + 2))  # by success, chosen, taken
        for lesson in lessons:
            self.learn(*lesson)

    def learn(self, chosen: int, taken: int, reward: float) -> None:
        learn_mediated(self.rule, self.state, self.memo, chosen, taken, reward, 1.0, stream(0, 0))
        self.counts[int(reward), chosen, taken] += 1

    def stated(self, number: int = 0, purpose: Any = ESTIMATE) -> Any:
        rng, out = stream(3, 0), np.zeros(40 * self.n_arms)
        point(rng, number, purpose)
        with np.errstate(over="ignore"):  # of random words
            probabilities_mediated(self.rule, self.state, self.memo, 1.0, out, rng)
        return out[: self.n_arms]

    def log_odds(self) -> float:
        """Of confounded to mediated without the prior's fading, as the state has it."""
        return math.log(self.state.odds) + 512.0 * math.log(2.0) * float(self.state.steps)


def log_odds_of(counts: Any, odds: float) -> float:
    """The same from the marginal likelihoods of all outcomes: one Beta for each cell, or for each arm taken."""
    failures, successes = counts
    confounded = betaln(1 + successes, 1 + failures).sum()
    mediated = betaln(1 + successes.sum(axis=0), 1 + failures.sum(axis=0)).sum()
    return float(confounded - mediated - math.log(odds))


def random_lessons(n_arms: int, n: int, seed: int, others: bool = False, skewed: bool = False) -> list[Lesson]:
    """Told uniformly, or one arm mostly; half do as told; what succeeds depends on both arms."""
    rng = np.random.default_rng(seed)
    means = rng.beta(1.0, 1.0, (n_arms, n_arms + 2))
    first = -2 if others else 0
    lessons = []
    for _ in range(n):
        chosen = int(rng.integers(n_arms)) if not skewed or rng.random() < 0.03 else 0
        taken = chosen if rng.random() < 0.5 else int(rng.integers(first, n_arms))
        lessons.append((chosen, taken, float(rng.random() < means[chosen, taken])))
    return lessons


def expected_of_two(counts: Any, odds: float, fading_odds: float | None = None) -> float:
    """P(arm 1 is chosen) of two arms, by quadrature."""
    failures, successes = counts
    cells = (successes + failures)[:, :2]
    more = probability_of_largest((1 + cells[:, 1]).tolist(), (1 + cells[:, 0]).tolist(), 1)
    better, chosen = (
        probability_of_largest((1 + successes.sum(axis)[:2]).tolist(), (1 + failures.sum(axis)[:2]).tolist(), 1)
        for axis in (0, 1)
    )
    prior = odds if fading_odds is None else fading_odds / (1 + cells.sum(axis=1).min())
    mediated = 1.0 / (1.0 + math.exp(min(700.0, log_odds_of(counts, prior))))
    return mediated * (more * better + (1 - more) * (1 - better)) + (1 - mediated) * chosen


@pytest.mark.parametrize("n_arms", [2, 3])
def test_the_odds_are_those_of_the_marginal_likelihoods_in_any_order(n_arms: int) -> None:
    lessons = random_lessons(n_arms, 120, seed=n_arms, others=True)
    first, second = Taught(MediatedThompson(odds=0.3), n_arms), Taught(MediatedThompson(odds=0.3), n_arms)
    for place, lesson in enumerate(lessons):
        first.learn(*lesson)
        if place % 10 == 9:
            assert first.log_odds() == pytest.approx(log_odds_of(first.counts, 0.3), abs=1e-9)
    for lesson in np.random.default_rng(1).permutation(np.array(lessons)):
        second.learn(int(lesson[0]), int(lesson[1]), float(lesson[2]))
    np.testing.assert_allclose(first.state.floats, second.state.floats, rtol=1e-11)


def test_the_odds_may_go_where_no_float_can_hold_them_and_come_back() -> None:
    """From odds of 10^200 for the one hypothesis to 10^200 for the other."""
    policy = Taught(MediatedThompson(odds=1e200), 2)
    steps = set()
    for _ in range(700):
        policy.learn(0, 0, 1.0)
        policy.learn(1, 0, 0.0)
        steps.add(float(policy.state.steps))
        assert 0.0 < policy.state.odds < math.inf
        assert policy.state.steps == 0.0 or abs(policy.log_odds()) > 350.0  # which no probability shows
    assert steps == {-1.0, 0.0, 1.0}
    assert policy.log_odds() == pytest.approx(log_odds_of(policy.counts, 1e200), rel=1e-12)
    assert policy.stated() == pytest.approx([1.0, 0.0], abs=1e-11)
    for _ in range(700):  # until the two groups are alike
        policy.learn(0, 0, 0.0)
        policy.learn(1, 0, 1.0)
    assert policy.log_odds() == pytest.approx(log_odds_of(policy.counts, 1e200), rel=1e-9)
    assert policy.state.steps == -1.0


@pytest.mark.parametrize(
    ("options", "n", "skewed"),
    [
        ({}, 0, False),
        ({}, 200, False),
        ({}, 2000, True),
        ({"odds": math.inf}, 100, True),
        ({"fading_odds": 15}, 15, False),
    ],
)
def test_two_arms_have_the_probability_of_the_formula(options: Any, n: int, skewed: bool) -> None:
    policy = Taught(MediatedThompson(**options), 2, random_lessons(2, n, seed=n, skewed=skewed))
    odds = min(options.get("odds", 0.15), 1e300)
    expected = expected_of_two(policy.counts, odds, options.get("fading_odds"))
    assert policy.stated()[1] == pytest.approx(expected, abs=1e-9)
    assert policy.stated().sum() == 1.0


def test_few_odds_make_it_thompson_sampling_under_chosen() -> None:
    policy = Taught(MediatedThompson(odds=1e-310), 2, random_lessons(2, 60, 5))
    failures, successes = policy.counts.sum(axis=2)
    assert policy.stated()[1] == pytest.approx(probability_of_largest(successes + 1, failures + 1, 1), abs=1e-9)


@pytest.mark.parametrize("better", [0, 1])
def test_no_arm_is_ever_impossible(better: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons = [(arm, arm, float(arm == better)) for _ in range(300) for arm in (0, 1)]
    policy = Taught(MediatedThompson(), 2, lessons)
    stated = policy.stated()
    assert stated[1 - better] == pytest.approx(1e-12, rel=1e-3, abs=0.0)
    for u in (0.0, 0.99e-12, 1.01e-12, 0.5, 1.0 - 1.01e-12, 1.0 - 0.99e-12):
        monkeypatch.setattr(mediated_posterior, "uniform", lambda _, u=u: u)
        assert choose_mediated(policy.rule, policy.state, policy.memo, 1.0, stream(0, 0)) == (u < stated[1]), u


def drawn(counts: Any, prior_odds: float, n: int) -> Any:
    """The law of the next arm by the formulas, with many draws of NumPy's."""
    failures, successes = counts
    rng, n_arms = np.random.default_rng(0), counts.shape[1]
    theta = rng.beta(1 + successes.sum(axis=0), 1 + failures.sum(axis=0), (n, n_arms + 2))
    shapes = (successes + failures) + np.append(np.ones(n_arms), [0.0, 0.0])
    shares = rng.gamma(np.maximum(shapes, 1e-9), size=(n, *shapes.shape)) * (shapes > 0)
    values = (shares * theta[:, None, :]).sum(axis=2) / shares.sum(axis=2)
    chosen = rng.beta(1 + successes.sum(axis=1), 1 + failures.sum(axis=1), (n, n_arms))
    mediated = 1.0 / (1.0 + math.exp(log_odds_of(counts, prior_odds)))
    if_mediated, if_confounded = (np.bincount(one.argmax(axis=1), minlength=n_arms) / n for one in (values, chosen))
    return mediated * if_mediated + (1.0 - mediated) * if_confounded


@pytest.mark.parametrize(("n_arms", "n"), [(2, 12), (3, 25)])
def test_more_arms_or_none_taken_have_the_law_of_the_formula_on_average(n_arms: int, n: int) -> None:
    policy = Taught(MediatedThompson(odds=3.0), n_arms, random_lessons(n_arms, n, 8, others=True))
    assert policy.state.others > 0
    stated = [policy.stated(number) for number in range(20)]
    assert len({tuple(one) for one in stated}) > 5
    tolerance = 4.5 * math.sqrt(0.25 / (N_DRAWS * len(stated)))
    np.testing.assert_allclose(np.mean(stated, axis=0), drawn(policy.counts, 3.0, 100_000), atol=tolerance)


def test_one_of_more_arms_is_drawn_from_what_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is mediated for sure, every place in the list has the same share of [0, 1)."""
    policy = Taught(MediatedThompson(odds=math.inf), 3, random_lessons(3, 40, 2))
    stated = policy.stated(7)
    assert stated.tolist() == policy.stated(7, CHOOSE).tolist()
    assert np.sort(stated)[1] > 0.01  # nothing that nobody took has a share
    any_arm, counts, rng = 0.5 / (N_DRAWS * 41), np.zeros(3), stream(3, 0)
    for place in range(N_DRAWS):
        u = any_arm + (1.0 - any_arm) * (place + 0.5) / N_DRAWS
        point(rng, 7, CHOOSE)
        before = rng.copy()
        monkeypatch.setattr(mediated_posterior, "uniform", lambda _, u=u: u)
        with np.errstate(over="ignore"):
            counts[choose_mediated(policy.rule, policy.state, policy.memo, 1.0, rng)] += 1
        assert rng.tolist() == before.tolist()
    np.testing.assert_allclose(stated, any_arm / 3 + (1.0 - any_arm) * counts / N_DRAWS, atol=1e-12)
    for arm in range(3):
        monkeypatch.setattr(mediated_posterior, "uniform", lambda _, arm=arm: any_arm * (arm + 0.5) / 3)
        assert choose_mediated(policy.rule, policy.state, policy.memo, 1.0, rng) == arm


def test_what_is_no_arm_has_a_cell_of_its_own() -> None:
    policy = Taught(MediatedThompson(), 2, [(0, TOOK_NOTHING, 1.0), (0, TOOK_OTHER, 0.0), (1, TOOK_OTHER, 0.0)])
    assert policy.state.successes.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert policy.state.failures.tolist() == [[0, 0, 1, 0], [0, 0, 1, 0]]
    assert (policy.state.others, policy.state.taking_p, policy.state.reward_p) == (3, 0.5, 0.5)


def test_it_gains_where_it_may_believe_and_is_not_fooled_where_not() -> None:
    policies = ["thompson", "mediated-thompson", "mediated-thompson(odds=inf)"]

    def surpluses(population: str) -> list[float]:
        return [one.surplus.mean for one in simulate(policies, population, 1000, 300, 1, progress=False).outcomes]

    thompson, mediated, always = surpluses("homogeneous")
    assert 1.3 * thompson < mediated < always
    thompson, mediated, always = surpluses("rich-and-poor")
    assert always < 0.0 < 0.9 * thompson < mediated
    assert min(surpluses("defiers")) > 490.0  # those told the other arm take the better one: no matter how it learns


def test_it_keeps_what_a_policy_promises() -> None:
    """As Python, on arrays that refuse what compiled code would do without a word."""
    with as_python(adhere):
        for promise in (runs, repeatable, late, works_in_hierarchy):
            promise(MediatedThompson())


def test_its_odds_are_constant_or_fade() -> None:
    assert [str(parse_policy(f"mediated-thompson{text}")) for text in ("", "(0.2)", "(fading_odds=15)")] == [
        "mediated-thompson", "mediated-thompson(odds=0.2)", "mediated-thompson(fading_odds=15)"
    ]  # fmt: skip
    always = MediatedThompson(odds=math.inf)
    assert from_json(always.to_json()) == always == parse_policy("mediated-thompson(odds=inf)")
    with pytest.raises(InputError, match=r"takes odds=…, which are constant, or fading_odds=…, not both"):
        parse_policy("mediated-thompson(odds=1, fading_odds=3)")
    for text, message in (("odds=0", "a number above 0, or inf"), ("fading_odds=inf", "a number above 0")):
        with pytest.raises(InputError, match=f"expected {message}$"):
            parse_policy(f"mediated-thompson({text})")
