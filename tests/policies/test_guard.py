"""What the policy inside a guard learns, and by which probabilities it weighs it."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import adhere
from adhere.compilation.policy_failures import as_python
from adhere.contract.interpreted import Decision, Interpreted

from .guarded import changes, fields, guard_decided, interpreted, taught


def round_of(trial: Interpreted, guard: bool) -> Decision:
    """The first recommendation from 10 on that the guard decided, or did not."""
    for number in count(10):
        decision = trial.decide(number)
        if guard_decided(decision) == guard:
            return decision
    raise AssertionError


def test_certified_experts_learn_from_a_guards_round_and_the_top_does_not() -> None:
    with as_python(adhere):
        for recycle in ("false", "true"):
            trial = interpreted(f"floor(hierarchical(epsilon-greedy, recycle={recycle}), share=0.25)", 2)
            taught(trial, 10, 3)
            inner = trial.rule.inner
            change = fields(inner, changes(trial, round_of(trial, guard=True), 1, 1.0))
            experts = change.experts.reshape(3, -1)
            assert not change.top.floats.any()
            assert (experts[:2] != 0.0).any(axis=1).all()  # under Chosen and Actual; Comply, if it was followed
            assert not change.caches.any()
            change = fields(inner, changes(trial, round_of(trial, guard=False), 1, 1.0))
            assert change.top.floats.any()


def test_both_parts_of_thompson_bounded_learn_from_a_guards_round() -> None:
    with as_python(adhere):
        for option in ("literal", "recycle"):
            trial = interpreted(f"floor(thompson-bounded(thompson/actual, {option}=true), share=0.25)", 2)
            change = fields(trial.rule.inner, changes(trial, round_of(trial, guard=True), 1, 1.0))
            assert change.sampler.floats.any()
            assert change.inner.floats.any()
            assert not change.cache.floats.any()


def test_hierarchical_exp3_learns_from_a_guards_round_in_all_its_experts() -> None:
    with as_python(adhere):
        trial = taught(interpreted("floor(hierarchical-exp3(eta=0.1, rho=0.1), share=0.25)", 2), 10, 3)
        decision = round_of(trial, guard=True)
        change = fields(trial.rule.inner, changes(trial, decision, decision.chosen, 0.0))
        assert not change.log_v.any()
        assert (change.log_w != 0.0).any(axis=1).all()


def test_exp3_divides_by_what_each_arm_really_had() -> None:
    with as_python(adhere):
        for rule in ("mix", "clip"):
            trial = taught(interpreted(f"floor(exp3(gamma=0.2), share=0.15, control=0.3, rule={rule})", 3), 20, 4)
            stated = trial.probabilities(20)
            for guard in (True, False):
                decision = round_of(trial, guard)
                raised = fields(trial.rule.inner, changes(trial, decision, 0, 0.5)).log_weights[decision.chosen]
                assert raised == pytest.approx(0.2 / 3 * 0.5 / stated[decision.chosen])
        trial = interpreted("burn-in(floor(exp3(gamma=0.2)), patients=4)", 2)
        for number in range(4):
            decision, stated = trial.decide(number), trial.probabilities(number)
            raised = fields(trial.rule.inner.inner, changes(trial, decision, 0, 1.0)).log_weights[decision.chosen]
            assert raised == pytest.approx(0.2 / 2 / stated[decision.chosen])
            trial.note(decision)


def test_a_certified_exp3_divides_by_the_guarded_probability_and_that_of_being_drawn() -> None:
    hierarchy = "hierarchical(exp3(gamma=0.3), top=exp3(gamma=0.3))"
    with as_python(adhere):
        trial = taught(interpreted(f"floor({hierarchy}, share=0.15, control=0.3)", 2), 12, 6)
        inner, state = trial.rule.inner, fields(trial.rule.inner, np.array(trial.state))
        weights = state.experts.reshape(3, -1)[0, 2:]  # of the expert under Chosen; before them their logarithms
        had = np.array([0.3, 0.15]) + 0.55 * (0.7 * weights / weights.sum() + 0.15)
        top = 0.7 * state.top.weights / state.top.weights.sum() + 0.1
        seen = set()
        for number in range(12, 60):
            decision = trial.decide(number)
            drawn = -1 if guard_decided(decision) else int(decision.memo[1])
            raised = fields(inner, changes(trial, decision, 0, 0.5)).experts.reshape(3, -1)[0, decision.chosen]
            expected = 0.3 / 2 * 0.5 / had[decision.chosen]
            assert raised == pytest.approx({-1: expected, 0: expected / top[0]}.get(drawn, 0.0))
            seen.add(drawn)
        assert seen == {-1, 0, 1, 2}


def test_an_arm_that_was_taken_but_could_not_be_chosen_keeps_its_own_probability() -> None:
    with as_python(adhere):
        trial = interpreted("burn-in(exp3(gamma=0.2)/actual, patients=2, block=2)", 2)
        first = trial.decide(0)
        trial.note(first)
        last = trial.decide(1)
        assert trial.probabilities(1)[first.chosen] == 0.0
        raised = fields(trial.rule.inner, changes(trial, last, first.chosen, 1.0)).log_weights
        assert raised[first.chosen] == pytest.approx(0.2 / 2 / 0.5)


@pytest.mark.parametrize("n_guards", [1, 2, 3])
def test_nested_guards_are_weighed_together_whoever_decided(n_guards: int) -> None:
    text = "floor(" * n_guards + "exp3(gamma=0.2)" + ", share=0.1, rule=mix)" * n_guards
    with as_python(adhere):
        trial = taught(interpreted(text, 2), 20, 4)
        rule = trial.rule
        while hasattr(rule, "inner"):
            rule = rule.inner
        stated, decided = trial.probabilities(20), set[float]()
        for number in range(20, 50):
            decision = trial.decide(number)
            decided.add(decision.memo[:n_guards].tolist().index(0.0) if 0.0 in decision.memo[:n_guards] else -1)
            raised = fields(rule, changes(trial, decision, 0, 1.0)).log_weights[decision.chosen]
            assert raised == pytest.approx(0.2 / 2 / stated[decision.chosen])
        assert decided == {-1, *range(n_guards)}


@pytest.mark.parametrize("rule", ["mix", "clip"])
@pytest.mark.parametrize("inner", ["hierarchical(exp3(gamma=0.3))", "hierarchical-exp3(eta=0.2, rho=0.2)"])
def test_what_a_certified_expert_estimates_of_an_arm_has_no_bias(inner: str, rule: str) -> None:
    """E[1{learns of arm j} · weight · r / p'] = r for the expert under Chosen, over the rounds of guard and top."""
    n_runs, estimates = 250, []
    with as_python(adhere):
        trial = taught(interpreted(f"floor({inner}, share=0.15, control=0.3, rule={rule})", 2), 12, 6)
        for run in range(n_runs):
            trial.turn_to(run)
            decision = trial.decide(20)
            change = fields(trial.rule.inner, changes(trial, decision, decision.chosen, 0.5))
            if inner.startswith("hierarchical-exp3"):
                estimates.append(-change.log_w[0] / 0.2)  # of the loss, which is 0.5 too
            else:
                estimates.append(change.experts.reshape(3, -1)[0, :2] / (0.3 / 2))
    errors = np.std(estimates, axis=0) / np.sqrt(n_runs)
    assert (errors < 0.15).all()
    assert (np.abs(np.mean(estimates, axis=0) - 0.5) < 4 * errors).all()
