"""Floor: minimum probabilities hold, whatever the policy inside would choose, and it decides the rest as ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adhere
from adhere import InputError, parse_policy
from adhere.compilation.policy_failures import as_python
from adhere.contract.promises import unlike
from adhere.policies.base.policy import TrialShape
from adhere.policies.guards.floor import rescaling, rescaling_of_two
from oracle import clipped
from simulation.engine import arms_of, tallies_of
from simulation.mixed_populations import engine_population, rows_for

from .guarded import draws_of, interpreted, taught

MINIMA = (0.3, 0.15, 0.15)


def test_text_and_defaults() -> None:
    assert str(parse_policy("floor(thompson/actual, 0.2, 0.3, rule=clip)")) == (
        "floor(thompson/actual, share=0.2, control=0.3, rule=clip)"
    )
    policy = parse_policy("floor(burn-in(hierarchical(ucb1)), share=0.1, rule=mix)")
    assert str(policy) == "floor(burn-in(hierarchical(ucb1)))"
    assert policy.depth == 4


@pytest.mark.parametrize(
    ("text", "n_arms", "sentence"),
    [
        ("floor(thompson, share=0.4)", 3, r"floor share: got 0.4, expected at most 0.3333 for 3 arms: minimum prob"),
        ("floor(thompson)", 11, r"floor share: got 0.1, expected at most 0.09091 for 11 arms"),
        (
            "thompson-bounded(floor(thompson, share=0.4, control=0.3))",
            3,
            r"floor share: got 0.4, expected at most 0.35 for 3 arms beside control=0.3",
        ),
        ("floor(thompson, share=-0.1)", 2, r"floor share: got -0.1, expected a number at least 0 and at most 1"),
        ("floor(thompson, control=1.5)", 2, r"floor control: got 1.5, expected a number at least 0 and at most 1"),
        ("floor(thompson, rule=cut)", 2, r"floor rule: got 'cut', expected"),
        ("floor(0.3)", 2, r"floor inner: got 0.3, expected a policy, e.g. floor\(thompson\)"),
        ("burn-in", 2, r"burn-in inner: got None, expected a policy, e.g. burn-in\(thompson\)"),
        (
            "floor(thompson)/actual",
            2,
            r"expected the protocol of a learner inside floor, e.g. floor",
        ),
    ],
)
def test_what_does_not_fit_is_refused(text: str, n_arms: int, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_policy(text).resolved(n_arms, 100)


@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.25])
def test_shares_that_add_up_to_one_are_fixed_randomisation(share: float) -> None:
    n_arms = round(1 / share)
    with as_python(adhere):
        trial = taught(interpreted(f"floor(ucb1, share={share})", n_arms), 10, 1)
        assert trial.probabilities(10) == pytest.approx([share] * n_arms)


@pytest.mark.parametrize(
    ("policy", "n_arms"),
    [
        ("floor(burn-in(ucb1, patients=50), share=0.2)", 3),
        ("thompson-bounded(floor(hierarchical-exp3(eta=0.2, rho=0.2), share=0.2, rule=clip))", 2),
    ],
)
def test_what_is_stated_is_how_often_it_is_chosen(policy: str, n_arms: int) -> None:
    with as_python(adhere):
        assert unlike(*draws_of(taught(interpreted(policy, n_arms), 20, 1), 20)) == ""


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(lambda p: sum(p) > 0),
    st.data(),
)
def test_clipping_is_raising_and_rescaling_until_nothing_is_below(weights: list[float], data: st.DataObject) -> None:
    p = np.array(weights) / sum(weights)
    minima = np.array(data.draw(st.lists(st.floats(0, 1 / p.size), min_size=p.size, max_size=p.size)))
    rule = adhere.Floor(adhere.Uniform()).assemble(TrialShape(p.size)).rule
    kept = rescaling(rule, minima, p)
    found = np.maximum(minima, kept * p)
    assert found.sum() == pytest.approx(1.0)
    assert found == pytest.approx(clipped(p.tolist(), minima.tolist()), abs=1e-9)
    if p.size == 2:
        assert rescaling_of_two(rule, minima, p) == pytest.approx(kept)


@pytest.mark.parametrize("rule", ["mix", "clip"])
@pytest.mark.parametrize("inner", ["ucb1", "exp3(gamma=0.1)", "hierarchical(epsilon-greedy(epsilon=0))"])
def test_minima_hold_at_every_round(inner: str, rule: str) -> None:
    with as_python(adhere):
        for seed in range(3):
            trial = interpreted(f"floor({inner}, share=0.15, control=0.3, rule={rule})", 3, seed)
            rng = np.random.default_rng(seed)
            for number in range(25):
                decision = trial.decide(number)
                stated = trial.probabilities(number)
                assert (stated >= np.array(MINIMA) - 1e-12).all()
                assert stated.sum() == pytest.approx(1.0)
                trial.learn(decision, int(rng.integers(3)), float(rng.integers(2)))


def test_a_floor_of_nothing_leaves_the_policy_as_it_is() -> None:
    population = engine_population(rows_for("thompson", 3))
    inner = "thompson-bounded(exp3(gamma=0.2)/actual)"
    own = arms_of(inner, population, 50, 1, 3, compiled=False)
    for rule in ("mix", "clip"):
        guarded = arms_of(f"floor({inner}, share=0, rule={rule})", population, 50, 1, 3, compiled=False)
        assert np.array_equal(guarded, own)


def test_a_floor_brings_back_an_arm_that_would_never_be_chosen() -> None:
    population = adhere.populations.homogeneous()
    greedy = "epsilon-greedy(epsilon=0)"
    stuck, cured = (
        tallies_of(policy, population, 200, 12, 4, np.array([200]), compiled=False)
        for policy in (greedy, f"floor({greedy})")
    )
    never = (stuck.pulls[:, 0] == 0).any(axis=1)
    assert never.sum() >= 2
    assert (cured.pulls[:, 0] >= 8).all()
