"""Designs that cannot be run are refused in one sentence that names the field; others are warned of."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.design.checks import check
from adhere.design.design import Design
from adhere.design.design_file import load_design
from adhere.design.make_look_rules import look_rules
from adhere.design.words import in_words
from adhere.errors import InputError
from adhere.policies import BaseThompson, MediatedThompson, Thompson, Ucb1

POSTERIOR = {"by": "posterior", "superiority": 0.99}
PLAIN: dict[str, Any] = {"name": "t", "policy": "thompson", "arms": ["walk", "aspirin"], "n_patients": 300}
LOOKING = {**PLAIN, "looks": {"every": 100}}
SHORT = {**PLAIN, "stopping": POSTERIOR}
THREE = {**LOOKING, "arms": ["a", "b", "c"]}


def stopping(**rules: Any) -> dict[str, Any]:
    return {**LOOKING, "stopping": {**POSTERIOR, **rules}}


def z_test(**rules: Any) -> dict[str, Any]:
    return {**LOOKING, "stopping": {"by": "z-test", **rules}}


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # looks
    ({**PLAIN, "looks": {"at": [100, 100]}}, "looks.at", "looks.at: got [100, 100], expected numbers that increase"),
    ({**PLAIN, "looks": {"at": [200, 100]}}, "looks.at", "numbers that increase"),
    ({**PLAIN, "looks": {"at": [0, 100]}}, "looks.at", "numbers of patients from 1 to n_patients, 300"),
    ({**PLAIN, "looks": {"at": [100, 301]}}, "looks.at", "from 1 to n_patients, 300"),
    ({**PLAIN, "looks": {"every": 0}}, "looks.every", "from 1 to n_patients, 300"),
    ({**PLAIN, "looks": {"every": 301}}, "looks.every", "from 1 to n_patients, 300"),
    ({**PLAIN, "looks": {"days": [10, 5]}}, "looks.days", "numbers that increase"),
    ({**PLAIN, "looks": {"days": [-1]}}, "looks.days", "a number of days from 0 to 36,500"),
    ({**PLAIN, "looks": {"every": 10, "days": [5]}}, "looks.every", "looks.every and looks.days exclude each other"),
    ({**PLAIN, "looks": {"at": ["x"]}}, "looks.at[0]", "looks.at[0]: got 'x', expected a whole number"),
    ({**PLAIN, "looks": {"evry": 10}}, "looks.evry", "unknown field 'looks.evry'; did you mean 'every'?"),
    ({**PLAIN, "n_patients": 2**53 - 1, "looks": {"every": 1}}, "looks", "at most 10,000 looks"),
    ({**PLAIN, "n_patients": 2**53}, "n_patients", "below 2**53"),
    ({**LOOKING, "n_patients": None}, "n_patients", "looks.every needs n_patients"),
    ({**PLAIN, "n_patients": None, "stopping": POSTERIOR}, "n_patients", "stopping needs n_patients"),
    ({**PLAIN, "n_patients": 0}, "n_patients", "a whole number of patients, at least 1"),
    ({**PLAIN, "update": "at looks"}, "update", "looks beside it"),
    ({**PLAIN, "update": "daily"}, "update", "update: got 'daily', expected at looks or every patient"),
    # the policy and the arms
    ({**PLAIN, "control": "pill"}, "control", "control: got 'pill', expected one of walk, aspirin"),
    ({**PLAIN, "policy": "floor(thompson, share=0.6)"}, "floor share", "at most 0.5 for 2 arms"),
    ({**PLAIN, "policy": "burn-in(thompson, patients=301)"}, "policy", "takes 301 patients, more than n_patients"),
    ({**PLAIN, "policy": "floor(thompson, control=0.3)", "control": "aspirin"}, "control", "'walk', the first arm"),
    ({**PLAIN, "strata": ["young", "old"]}, "policy", "burn-in(…) outermost"),
    ({**PLAIN, "strata": ["young", "old"], "policy": "floor(burn-in(thompson))"}, "policy", "burn-in(…) outermost"),
    ({**PLAIN, "strata": ["young", "young"], "policy": "burn-in(thompson)"}, "strata", "each name once"),
    ({**PLAIN, "strata": ["young"], "policy": "burn-in(thompson)"}, "strata", "at least two strata"),
    ({**LOOKING, "policy": "hierarchical(thompson)", "update": "at looks"}, "policy", "frozen between looks"),
    (
        {**THREE, "policy": "floor(hierarchical(thompson))", "stopping": {**POSTERIOR, "inferiority": 0.01}},
        "policy",
        "arms can be dropped (stopping)",
    ),
    ({**PLAIN, "outcome_words": {"alive": 1}}, "outcome_words", "one word for each of reward_values (0, 1)"),
    ({**PLAIN, "outcome_words": {"alive": 1, "died": 0, "well": 1}}, "outcome_words", "one word for each"),
    ({**PLAIN, "outcome_words": {"alive": 1, "Alive": 0}}, "outcome_words", "words that look different"),
    ({**PLAIN, "outcome_words": {"alive": 1, " ": 0}}, "outcome_words", "not empty"),
    ({**PLAIN, "outcome_words": {"alive": 2, "died": 0}}, "outcome_words", "got 2.0, expected a number from 0 to 1"),
    ({**PLAIN, "outcome_words": {"alive": "yes"}}, "outcome_words", "expected a number"),
    ({**PLAIN, "policy": "thompsn"}, "policy", "did you mean 'thompson'?"),
    ({**PLAIN, "seed": 7}, "seed", "seed: a design has no seed: it is drawn when a trial is created, or given then"),
    ({**PLAIN, "estimands": ["compliers", "compliers"]}, "estimands", "each name once"),
    ({"name": "t"}, "policy", "the field 'policy' is missing"),
    # thresholds
    (stopping(inferiority=0.995), "stopping.inferiority", "(0.995) and stopping.superiority (0.99) contradict"),
    (stopping(superiority=0.4, inferiority="1 - superiority"), "stopping.inferiority", "contradict each other"),
    (stopping(superiority=[0.9, 0.5, 0.9], inferiority=0.6), "stopping.inferiority", "each other at look 2"),
    (stopping(futility=0.99), "stopping.futility", "contradict each other"),
    (stopping(superiority=[0.99, 0.98]), "stopping.superiority", "one number, or one for each of the 3 looks"),
    (stopping(superiority=1.5), "stopping.superiority", "a probability from 0, below 1"),
    (stopping(superiority=1), "stopping.superiority", "a probability from 0, below 1"),
    (stopping(superiority=[0.99, 1 - 1e-17, 0.9]), "stopping.superiority", "got 1.0, expected a probability"),
    (stopping(by="belief", superiority=1.0), "stopping.superiority", "below 1"),
    (stopping(equivalence=1.0, margin=0.1), "stopping.equivalence", "a probability from 0, below 1"),
    (stopping(inferiority=0.0), "stopping.inferiority", "a probability above 0, to 1"),
    (stopping(futility=0.0), "stopping.futility", "a probability above 0, to 1"),
    (stopping(inferiority="mirrored"), "stopping.inferiority", "or '1 - superiority'"),
    (stopping(equivalence=0.9), "stopping.margin", "stopping.equivalence needs stopping.margin"),
    (stopping(margin=0.05), "stopping.margin", "stopping.margin is for equivalence and futility"),
    (stopping(equivalence=0.9, margin=0.0), "stopping.margin", "a difference between 0 and 1"),
    (stopping(alpha=0.05), "stopping.alpha", "stopping.alpha does not apply to 'posterior'"),
    (stopping(by="oracle"), "stopping.by", "expected belief, posterior, wealth or z-test"),
    ({**LOOKING, "stopping": {"superiority": 0.9}}, "stopping.by", "the field 'stopping.by' is missing"),
    ({**THREE, "stopping": {**POSTERIOR, "futility": 0.1}}, "control", "'futility' needs one of the 3 arms"),
    ({**THREE, "stopping": {"by": "z-test", "superiority": 2}}, "control", "'z-test' needs one of the 3 arms"),
    ({**THREE, "stopping": {"by": "wealth", "alpha": 0.05}}, "control", "'wealth' needs one of the 3 arms"),
    ({**THREE, "control": "a", "stopping": {**POSTERIOR, "by": "belief"}}, "control", "only where there are two"),
    ({**stopping(by="belief"), "policy": "floor(ucb1)"}, "stopping.by", "draws arms from a posterior"),
    (stopping(by="belief", equivalence=0.9, margin=0.1), "stopping.equivalence", "does not apply to 'belief'"),
    (z_test(superiority=0.0), "stopping.superiority", "a critical value above 0"),
    (
        {**z_test(boundary="pocock", alpha=0.05), "looks": {"every": 1}},
        "looks",
        "at most 100 looks with a boundary",
    ),
    (z_test(superiority=2.0, futility=2.0), "stopping.futility", "contradict each other"),
    (z_test(superiority=2.0, inferiority="1 - superiority"), "stopping.inferiority", "one number for all looks"),
    (z_test(boundary="pocock"), "stopping.alpha", "the level of the test, between 0 and 1"),
    (z_test(boundary="pocock", alpha=1.0), "stopping.alpha", "the level of the test"),
    (z_test(boundary="pocock", alpha=0.05, superiority=2.0), "stopping.superiority", "exclude each other"),
    (z_test(superiority=2.0, alpha=0.05), "stopping.alpha", "none without a boundary"),
    (
        {**z_test(boundary="pocock", alpha=0.05), "looks": {"days": [10]}},
        "looks.days",
        "a boundary needs looks by number of patients",
    ),
    ({**LOOKING, "stopping": {"by": "wealth", "superiority": 20}}, "stopping.superiority", "which takes alpha"),
    ({**LOOKING, "stopping": {"by": "wealth"}}, "stopping.alpha", "the level of the test"),
    # what is expected of patients
    ({**PLAIN, "enrolment": {"per_day": 0}}, "enrolment.per_day", "a number of patients above 0, to 1,000,000"),
    ({**PLAIN, "enrolment": {"per_day": 1e9}}, "enrolment.per_day", "a number of patients above 0, to 1,000,000"),
    ({**PLAIN, "enrolment": {"days": [1, 2]}}, "enrolment.days", "a day for each patient, and n_patients is 300"),
    ({**PLAIN, "n_patients": 2, "enrolment": {"days": [2, 1]}}, "enrolment.days", "days in their order"),
    ({**PLAIN, "n_patients": 2, "enrolment": {"days": [1, 2], "random": True}}, "enrolment.days", "exclude"),
    ({**PLAIN, "delay": {"days": -1}}, "delay.days", "a number of days from 0"),
    ({**PLAIN, "delay": {"days": "soon"}}, "delay.days", "delay.days: got 'soon', expected a number"),
    ({**PLAIN, "delay": {"by_arm": {"aspirn": 3}}}, "delay.by_arm", "'aspirn' is not among the arms"),
    ({**PLAIN, "delay": {"by_arm": {"aspirin": "x"}}}, "delay.by_arm", "delay.by_arm: expected a number"),
    ({**PLAIN, "delay": {"by_arm": {"aspirin": 1e9}}}, "delay.by_arm", "a number of days from 0"),
    ({**PLAIN, "missing": {"outcome": {"rate": 1.1}}}, "missing.outcome.rate", "a share from 0 to 1"),
    ({**PLAIN, "missing": {"taken": {"after_success": -1}}}, "missing.taken.after_success", "a share from 0 to 1"),
    ({**PLAIN, "missing": {"taken": {"by_arm": {"x": 0.1}}}}, "missing.taken.by_arm", "not among the arms"),
    (
        {**PLAIN, "missing": {"outcome": {"by_stratum": {"x": 0.1}}}},
        "missing.outcome.by_stratum",
        "none, since the design has no strata",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "field", "said"), REFUSED, ids=[f"{n}-{row[1]}" for n, row in enumerate(REFUSED)])
def test_what_cannot_be_run_is_refused_in_one_sentence(fields: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_design(fields)
    assert refused.value.field == field
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


odd = st.sampled_from([None, True, 0, 1, 2, 0.5, -1, 1e300, math.inf, math.nan, 2**70, "", "a", "1 - superiority"])
threshold = st.sampled_from([0.95, 0.9, 0.1, 2.0]) | odd
numbers = threshold | st.lists(st.sampled_from([0, 1, 2, 3, 0.9, 0.1, math.nan]), max_size=4)
named = odd | st.dictionaries(st.sampled_from(["a", "b", "c", "x"]), odd, max_size=2)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "n_patients": st.sampled_from([3, 4, 90]) | odd,
    "control": odd,
    "strata": st.sampled_from([["x", "c"], ["x"], []]) | numbers,
    "update": st.sampled_from(["at looks", "every patient"]) | odd,
    "policy": st.sampled_from(["thompson", "floor(ucb1)", "burn-in(uniform, patients=3)", "hierarchical(thompson)"]),
    "looks": named | st.fixed_dictionaries({}, optional={"at": numbers, "every": odd, "days": numbers}),
    "stopping": st.fixed_dictionaries(
        {"by": st.sampled_from(["posterior", "belief", "z-test", "wealth"])},
        optional=dict.fromkeys(("superiority", "inferiority", "equivalence", "futility"), numbers)
        | {"margin": threshold, "alpha": threshold, "boundary": st.sampled_from(["pocock", None, "x"])},
    ),
    "enrolment": st.fixed_dictionaries({}, optional={"per_day": odd, "random": odd, "days": numbers}),
    "delay": st.fixed_dictionaries({}, optional={"days": odd, "by_arm": named}),
    "missing": st.fixed_dictionaries({}, optional=dict.fromkeys(("outcome", "taken"), st.fixed_dictionaries(
        {}, optional={"rate": odd, "by_arm": named, "by_stratum": named, "after_failure": odd}))),
}  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([["a", "b"], ["a", "b", "c"]]),
    st.sampled_from([*PARTS, *["stopping"] * 5]).flatmap(lambda name: st.fixed_dictionaries({name: PARTS[name]})),
    st.sampled_from([None, "a"]),
)
def test_what_is_taken_can_be_judged_said_and_written(arms: list[str], part: dict[str, Any], control: str) -> None:
    given = {"name": "t", "policy": "thompson", "arms": arms, "n_patients": 90, "looks": {"every": 30}, **part}
    try:
        design = load_design({"control": control, **given})
    except InputError:  # and nothing else
        return
    look_rules(design)  # which must not refuse what was taken
    assert all(check(design))
    assert in_words(design)
    assert load_design(design.to_toml()) == design


def test_a_design_made_by_hand_is_checked_too() -> None:
    by_hand = Design("t", Thompson(), ["walk", "aspirin"], 300, looks={"every": 100})  # type: ignore[arg-type]
    assert load_design(by_hand) == load_design(LOOKING)
    with pytest.raises(InputError, match=r"looks\.every: got 'x', expected a whole number"):
        load_design(Design("t", "thompson", ("a", "b"), 300, looks={"every": "x"}))  # type: ignore[arg-type]


WARNED: list[tuple[dict[str, Any], str]] = [
    ({**PLAIN, "delay": {"days": 300}}, "delay: outcomes come after 300 days, but all 300 patients arrive"),
    ({**PLAIN, "delay": {"by_arm": {"walk": 400}}}, "delay: outcomes come after 400 days"),
    ({**PLAIN, "n_patients": 2, "delay": {"days": 3}, "enrolment": {"days": [0, 2]}}, "all 2 patients arrive"),
    ({**PLAIN, "policy": "burn-in(thompson, block=4)"},
     "have 4 patients, so anyone who sees every arm of a block can predict 33% of the arms"),
    (LOOKING, "stopping: this design has 3 looks, but no rule that could stop its trial before the last"),
    ({**LOOKING, "stopping": {"by": "posterior"}}, "no rule that could stop its trial"),
    (stopping(superiority=0.5), "some arm always reaches 0.5, so every trial stops at its first look"),
    (stopping(superiority=[0.4, 0.9, 0.9]), "every trial stops at its first look"),
    ({**stopping(futility=0.1), "looks": {}}, "stopping.futility: it does not apply at the last look"),
    ({**stopping(superiority=0.4), "control": "walk"}, "0.4: an arm would be declared better although it probably"),
    (stopping(superiority=[0.9, 0.3, 0.9]), "stopping.superiority 0.3: an arm would be declared"),
    (stopping(superiority=1 - 1e-9), "stopping.superiority: probabilities are accurate to 1e-06, so rounding"),
    (stopping(inferiority=[0.01, 1e-9, 0.01]), "stopping.inferiority: probabilities are accurate to 1e-06"),
    (z_test(superiority=1e300), "stopping.superiority: with 300 patients z is at most 17.3"),
    (z_test(superiority=[18, 19, 20.0]), "stopping.superiority: with 300 patients z is at most 17.3"),
    ({**z_test(superiority=41.0), "n_patients": 9000, "looks": {}}, "stopping.superiority: z hardly ever reaches 41"),
    ({**SHORT, "looks": {"at": [150, 210]}, "missing": {"outcome": {"rate": 0.3}}},
     "looks.at: 210 of 300 patients are expected to have an outcome, so a look at 210"),
    ({**SHORT, "looks": {"every": 100}, "missing": {"outcome": {"rate": 0.4, "by_arm": {"walk": 0.5}}}},
     "looks.every: at most 180 of 300 patients are expected to have an outcome, so a look at 200"),
    ({**SHORT, "looks": {"days": [100, 300, 500]}}, "looks.days: day 300, but all outcomes are expected by"),
    ({**SHORT, "looks": {"days": [360]}, "delay": {"days": 30, "distribution": "uniform"}}, "expected by day 359"),
    ({**SHORT, "looks": {"every": 100}, "missing": {"outcome": {"rate": 1.0}}}, "missing.outcome: no outcome is"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "said"), WARNED)
def test_what_will_hardly_be_meant_is_said(fields: dict[str, Any], said: str) -> None:
    (warning,) = check(load_design(fields))
    assert said in warning


@pytest.mark.parametrize(
    "fields",
    [
        PLAIN,
        {**PLAIN, "n_patients": None},
        stopping(inferiority="1 - superiority", futility=0.05),
        {**z_test(superiority=[1e9, 3.0, 2.0])},
        {**SHORT, "looks": {"at": [209, 300]}, "missing": {"outcome": {"rate": 0.3}}},
        {**SHORT, "looks": {"at": [290]}, "missing": {"outcome": {"rate": 1.0}},
         "impute": {"after_days": 9, "reward": 0}},
        {**SHORT, "looks": {"days": [300]}, "delay": {"days": 30, "distribution": "exponential"}},
        {**SHORT, "looks": {"days": [300]}, "missing": {"outcome": {"rate": 0.1}},
         "impute": {"after_days": 9, "reward": 0}},
        {**stopping(by="belief"), "policy": "burn-in(floor(mediated-thompson))"},
        {**z_test(boundary="obrien-fleming", alpha=0.05, futility=-1.0), "policy": "burn-in(uniform, patients=300)"},
        {**THREE, "control": "b", "stopping": {"by": "wealth", "alpha": 0.05}},
        {**THREE, "policy": "hierarchical(thompson)", "stopping": POSTERIOR},
        {**THREE, "policy": "floor(thompson, share=0.2, rule=clip)", "update": "at looks",
         "stopping": {**POSTERIOR, "inferiority": "1 - superiority", "equivalence": 0.9, "margin": 0.05}},
        {**PLAIN, "delay": {"days": 30}, "missing": {"outcome": {"rate": 0.1, "after_failure": 0.3}}},
        {**PLAIN, "strata": ["young", "old"], "policy": "burn-in(thompson)",
         "missing": {"taken": {"by_stratum": {"old": 0.2}, "by_arm": {"aspirin": 0.1}}}},
    ],
)  # fmt: skip
def test_what_can_be_run_is_taken_without_a_word(fields: dict[str, Any]) -> None:
    assert check(load_design(fields)) == ()


def test_policies_say_whether_their_probabilities_are_those_of_a_posterior() -> None:
    told = [policy.matches_probability for policy in (Thompson, BaseThompson, MediatedThompson, Ucb1)]
    assert told == [True, True, True, False]
