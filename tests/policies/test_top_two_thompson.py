"""`top-two-thompson`: its law by Russo's formula, its challengers by redrawing and by their law."""

from __future__ import annotations

import numpy as np
import pytest

from adhere import TopTwoThompson, simulate
from adhere.policies.base.policy import TrialShape
from adhere.policies.learners import top_two_thompson
from adhere.policies.learners.top_two_thompson import TopTwoMemo, challenger, draw_challenger, probabilities_top_two
from adhere.policies.numerics.beta import probabilities_of_being_largest
from adhere.policies.numerics.beta_posterior import BetaPosterior
from adhere.randomness import stream
from oracle import top_two_law

from .reference import chances_of_largest, next_chances, taught


def state_of(successes: list[float], failures: list[float], beta: float = 0.5) -> tuple[object, BetaPosterior]:
    """A rule and the state of a trial that has seen these successes and failures."""
    rule = TopTwoThompson(beta=beta).assemble(TrialShape(len(successes))).rule
    state = BetaPosterior(rule, BetaPosterior.initial(rule))
    state.successes[:] = np.array(successes) + 1.0
    state.failures[:] = np.array(failures) + 1.0
    return rule, state


def law_of(rule: object, state: BetaPosterior) -> list[float]:
    n_arms = len(state.successes)
    memo, out = TopTwoMemo(rule, np.zeros(TopTwoMemo.size(rule))), np.zeros(40 * n_arms)
    probabilities_top_two(rule, state, memo, 1.0, out, stream(0, 0))
    return [float(p) for p in out[:n_arms]]


def test_two_arms_with_half_and_half_are_randomised_for_ever() -> None:
    trial = taught("top-two-thompson/actual", 2, [(0, 0.0), (1, 1.0), (1, 1.0)])
    assert next_chances(trial) == pytest.approx([0.5, 0.5], abs=1e-15)


def test_two_arms_by_hand() -> None:
    """P(θ_1 > θ_0) = 5/6 after a failure of 0 and a success of 1."""
    trial = taught("top-two-thompson(beta=0.8)/actual", 2, [(0, 0.0), (1, 1.0)])
    assert next_chances(trial)[1] == pytest.approx(0.8 * 5 / 6 + 0.2 / 6, abs=1e-15)


def test_with_beta_1_it_is_thompson_sampling() -> None:
    lessons = [(0, 0.0), (1, 1.0), (2, 1.0), (2, 0.0), (0, 1.0), (1, 1.0)]
    found, expected = taught("top-two-thompson(beta=1)/actual", 3, lessons), taught("thompson/actual", 3, lessons)
    assert next_chances(found) == pytest.approx(next_chances(expected), abs=1e-12)


@pytest.mark.parametrize("n_arms", [3, 4, 5])
def test_the_law_is_that_of_the_paper(n_arms: int) -> None:
    rng = np.random.default_rng(n_arms)
    lessons = [(int(arm), float(rng.random() < 0.3 + 0.1 * arm)) for arm in rng.integers(0, n_arms, 40)]
    trial = taught("top-two-thompson(beta=0.6)/actual", n_arms, lessons)
    of_best = chances_of_largest(trial.state[:n_arms], trial.state[n_arms : 2 * n_arms])
    assert next_chances(trial) == pytest.approx(top_two_law(list(of_best), 0.6), abs=1e-9)


def test_an_arm_that_is_certain_to_be_best_still_has_a_challenger() -> None:
    """The next best arm gets 1 - β, however hopeless all of them are."""
    rule, state = state_of([900.0, 600.0, 100.0], [100.0, 400.0, 900.0])
    assert law_of(rule, state) == pytest.approx([0.5, 0.25, 0.25], abs=1e-9)  # both below what is told from 0
    rule, state = state_of([60.0, 40.0, 20.0], [40.0, 60.0, 80.0], beta=0.7)
    best, second, third = law_of(rule, state)
    assert best == pytest.approx(0.7, abs=0.01)
    assert second == pytest.approx(0.3, abs=0.01)
    assert 0.0 < third < 1e-3


def test_a_challenger_that_no_redraw_finds_is_drawn_by_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways, compared: redraws with no end, and the law alone, of which the integrals are worked out once."""
    rule, state = state_of([8.0, 5.0, 3.0], [2.0, 5.0, 4.0])
    memo, rng = TopTwoMemo(rule, np.zeros(TopTwoMemo.size(rule))), stream(3, 0)
    counts = np.zeros((2, 3))
    probabilities_of_being_largest(state.successes, state.failures, 0.0, memo.of_best)
    known = memo.of_best.copy()
    monkeypatch.setattr(
        top_two_thompson, "probabilities_of_being_largest", lambda *given: np.copyto(given[-1], known)
    )
    monkeypatch.setattr(top_two_thompson, "MAX_REDRAWS", 10**6)
    with np.errstate(over="ignore"):  # as compiled code does
        for _ in range(2000):
            counts[0, challenger(rule, state, memo, 0, rng)] += 1
            counts[1, draw_challenger(rule, state, memo.of_best, 0, rng)] += 1
        monkeypatch.setattr(top_two_thompson, "MAX_REDRAWS", 0)
        drawn = {challenger(rule, state, memo, 0, rng) for _ in range(50)}
    assert counts[:, 0].tolist() == [0.0, 0.0]
    difference = (counts[0, 1] - counts[1, 1]) / 2000
    assert abs(difference) < 4 * (2 * 0.25 / 2000) ** 0.5
    assert drawn == {1, 2}


def test_the_best_arm_gets_its_share_and_no_more() -> None:
    """Thompson sampling comes to give it to nearly everybody."""
    outcome = simulate("top-two-thompson", "stroke-heparin", 200, 20, progress=False)[0]
    assert len(outcome.arms) == 3
    assert max(share.mean for share in outcome.allocation.values()) < 0.55
