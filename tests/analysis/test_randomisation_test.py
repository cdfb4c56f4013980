"""The randomisation test by replay: exact where the policy learns under Chosen, refused where it does not."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from itertools import product
from math import factorial, sqrt

import numpy as np
import pytest

from adhere.analysis.adaptive.policy_play import Allocator, Schedule
from adhere.analysis.adaptive.policy_play_kernel import PLAY_TRIALS, play_trials
from adhere.analysis.adaptive.randomisation_test import LoggedAllocation, randomisation_tests, why_not_exact
from adhere.analysis.records import Floats, Ints
from adhere.policies import as_policy
from adhere.randomness import Words, stream_keys
from contract.policies_under_test import HYBRIDS, LEARNERS

OUTCOMES, DELAY, N_REDRAWS = (1.0, 0.0, 1.0, 1.0, 0.0), 1, 20_000
Table = tuple[float, int, float, int]  # sum and number of outcomes, of those told arm 0 and of those told arm 1


def beta(a: int, b: int) -> float:
    return factorial(a - 1) * factorial(b - 1) / factorial(a + b - 1)


def second_is_better(of_first: list[int], of_second: list[int]) -> float:
    """P(θ₁ > θ₀) for two Beta distributions with whole numbers, by the sum over those of the second."""
    (a, b), (c, d) = of_first, of_second
    return sum(beta(a + i, b + d) / ((d + i) * beta(1 + i, d) * beta(a, b)) for i in range(c))


def table_of(allocation: tuple[int, ...]) -> Table:
    by_arm = [[y for arm, y in zip(allocation, OUTCOMES, strict=True) if arm == own] for own in (0, 1)]
    return sum(by_arm[0]), len(by_arm[0]), sum(by_arm[1]), len(by_arm[1])


def difference(table: Table) -> float:
    return table[2] / table[3] - table[0] / table[1] if table[1] and table[3] else 0.0


def every_allocation() -> dict[tuple[int, ...], float]:
    """The exact probability of each allocation under Thompson sampling that learns of a patient one patient late."""
    law = {}
    for allocation in product((0, 1), repeat=len(OUTCOMES)):
        probability = 1.0
        for t, arm in enumerate(allocation):
            known = [[1, 1], [1, 1]]
            for earlier in range(max(0, t - DELAY)):
                known[allocation[earlier]][0 if OUTCOMES[earlier] else 1] += 1
            of_second = second_is_better(*known)
            probability *= of_second if arm else 1.0 - of_second
        law[allocation] = probability
    return law


def logged(chosen: Ints, keys: Words, outcomes: Floats, delay: int = 0, policy: str = "thompson") -> LoggedAllocation:
    schedule = Schedule.delayed(delay, len(outcomes))
    return LoggedAllocation(("a", "b"), policy, 2, (0.0, 1.0), keys, schedule, chosen, outcomes, outcomes)


def test_redraws_follow_the_law_of_the_allocation_and_the_p_value_is_the_exact_one() -> None:
    law = every_allocation()
    assert sum(law.values()) == pytest.approx(1.0)
    expected: dict[Table, float] = {}
    for allocation, probability in law.items():
        expected[table_of(allocation)] = expected.get(table_of(allocation), 0.0) + probability
    allocator = Allocator("thompson", 2, Schedule.delayed(DELAY, len(OUTCOMES)))
    values = np.array(OUTCOMES)
    drawn = allocator.redraw(values, values, stream_keys(3, 0, N_REDRAWS))
    found = Counter(
        (s0, n0, s1, n1) for (s0, s1), (n0, n1) in zip(drawn.sums.tolist(), drawn.counts.tolist(), strict=True)
    )
    assert set(found) <= set(expected)
    for table, p in expected.items():
        assert found[table] / N_REDRAWS == pytest.approx(p, abs=4.5 * sqrt(p * (1 - p) / N_REDRAWS))
    rewards = np.repeat(values[:, None], 2, axis=1)
    for seed in range(4):
        keys = stream_keys(seed, 0, 1)
        chosen = allocator.play(np.zeros_like(rewards), rewards, keys).chosen[0]
        (test,) = randomisation_tests(logged(chosen, keys, values, DELAY), n_redraws=N_REDRAWS, seed=seed)
        own = difference(table_of(tuple(chosen.tolist())))
        p = sum(at for other, at in law.items() if abs(difference(table_of(other))) >= abs(own) - 1e-12)
        if test.statistic is None:
            assert "not run: no outcome is known of anyone told " in test.reason
            continue
        assert test.statistic == pytest.approx(own)
        assert test.p_value == pytest.approx(p, abs=4.5 * sqrt(p * (1 - p) / N_REDRAWS) + 2 / N_REDRAWS)
        assert (test.exact, test.n_redraws, test.reason) == (True, N_REDRAWS, "")


def test_a_real_effect_is_found() -> None:
    n, delay, draws = 200, 60, np.random.default_rng(1)
    reward = (draws.random((n, 2)) < [0.2, 0.7]).astype(float)
    keys = stream_keys(7, 0, 1)
    chosen = Allocator("thompson", 2, Schedule.delayed(delay, n)).play(np.zeros((n, 2)), reward, keys).chosen[0]
    log = logged(chosen, keys, reward[np.arange(n), chosen], delay)
    told: list[int] = []
    (test,) = randomisation_tests(log, n_redraws=2000, on_progress=told.append)
    assert test.statistic is not None
    assert test.p_value is not None
    assert test.statistic > 0.3
    assert test.p_value < 0.01
    assert sum(told) == 2000
    (other,) = randomisation_tests(replace(log, schedule=Schedule.delayed(0, n)))  # which is not what happened
    assert other.p_value is None
    assert other.reason == (
        "The randomisation test by replay was not run: "
        "the policy, run again from the log, gives other recommendations or probabilities than are in it "
        "('adhere trial replay' says where)."
    )


def test_it_stops_where_it_is_told_to() -> None:
    def interrupt(n_done: int) -> None:
        if n_done > 0:
            raise KeyboardInterrupt

    values, before = np.tile([1.0, 0.0], 50_000), set(threading.enumerate())
    allocator = Allocator("thompson", 2, Schedule.delayed(DELAY, len(values)))
    with pytest.raises(KeyboardInterrupt):  # all of it would take minutes
        allocator.redraw(values, values, stream_keys(0, 0, 100_000), interrupt)
    for thread in set(threading.enumerate()) - before:
        thread.join(10.0)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("policy", "who"),
    [
        ("thompson/actual", "thompson/actual learns from what was taken"),
        ("thompson/credit[0 1; - 1]", "learns from what was taken"),
        ("mediated-thompson", "mediated-thompson learns from what was taken"),
        ("hierarchical(ucb1)", "a part of the policy, ucb1/actual, learns from what was taken"),
        ("floor(burn-in(thompson/comply))", "a part of the policy, thompson/comply, learns from what was taken"),
    ],
)
def test_a_policy_that_learns_from_what_was_taken_is_refused_in_words(policy: str, who: str) -> None:
    (test,) = randomisation_tests(logged(np.array([0, 1]), stream_keys(0, 0, 1), np.array([1.0, 0.0]), policy=policy))
    assert who in test.reason
    assert "under another allocation patients might have taken something else" in test.reason
    assert (test.statistic, test.p_value, test.exact) == (-1.0, None, False)


def test_a_policy_that_fails_in_a_redraw_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("two is too much")

    monkeypatch.setattr(Allocator, "redraw", fail)
    keys, values = stream_keys(1, 0, 1), np.array(OUTCOMES)
    rewards = np.repeat(values[:, None], 2, axis=1)
    schedule = Schedule.delayed(DELAY, len(OUTCOMES))
    chosen = Allocator("thompson", 2, schedule).play(np.zeros_like(rewards), rewards, keys).chosen[0]
    (test,) = randomisation_tests(logged(chosen, keys, values, DELAY))
    assert test.reason.endswith("not run: the policy failed when its allocation was redrawn: two is too much.")
    assert test.p_value is None


def test_what_was_taken_changes_nothing_of_a_policy_that_is_redrawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As Python, and without probabilities: none of it is compiled.
    monkeypatch.setattr(PLAY_TRIALS, "compiled", lambda *_: np.errstate(over="ignore")(play_trials))
    monkeypatch.setattr("adhere.analysis.adaptive.policy_play_kernel.probabilities", lambda *_: None)
    own = ("uniform/actual", "thompson/credit[0 0; 1 1]", "thompson-bounded(thompson, recycle=true)",
           "hierarchical(experts=[thompson, ucb1], recycle=true)", "burn-in(floor(ucb1), patients=4)")  # fmt: skip
    policies = [policy for policy in (*LEARNERS, *HYBRIDS, *own) if not why_not_exact(as_policy(policy), 2)]
    assert set(policies) >= {
        *LEARNERS,
        *own,
        "burn-in(floor(exp3), patients=7)",
        "hierarchical(uniform, top=thompson)",
    }
    n, draws = 12, np.random.default_rng(5)
    reward, some = draws.integers(0, 2, (n, 2)), draws.integers(-1, 2, (n, 2))
    schedule = Schedule.delayed(draws.integers(0, 4, n), actual_delay=draws.integers(0, 8, n))
    for policy in policies:
        if "bayes-optimal" not in policy:  # whose table takes seconds
            allocator, keys = Allocator(policy, 2, schedule), stream_keys(0, 0, 3)
            played = [allocator.play(actual, reward, keys).chosen.tolist() for actual in (some, np.ones((n, 2)))]
            assert played[0] == played[1]
