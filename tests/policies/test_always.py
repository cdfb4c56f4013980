"""`always(<arm>)`, by the name of the arm wherever arms have names."""

from __future__ import annotations

from typing import Any

import pytest

from adhere import Always, InputError, Trial, parse_policy, simulate
from adhere.design.make_design import make_design
from adhere.policies import Learner, arm_parameter, choose, implements, learn, policy, registry
from adhere.policies.base.policy import TrialShape
from adhere.policies.base.registry import from_json


@pytest.mark.parametrize(
    ("text", "arm", "canonical"),
    [
        ("always(patch)", "patch", "always(patch)"),
        ("ALWAYS( Patch )", "Patch", "always(Patch)"),
        ("always(arm=low-dose)/actual", "low-dose", "always(low-dose)/actual"),
        ('always("No treatment")', "No treatment", 'always("No treatment")'),
        ("always('10 mg')", "10 mg", 'always("10 mg")'),
        ("always( 10 mg )", "10 mg", 'always("10 mg")'),
        ("always(no treatment)/actual", "no treatment", 'always("no treatment")/actual'),
        ("always(θ → 50%)", "θ → 50%", 'always("θ → 50%")'),
        ("always('a \"b\"')", 'a "b"', "always('a \"b\"')"),
        ("always(1)", 1, "always(1)"),
        ("always('1')", "1", 'always("1")'),
        ("always(01)", "01", 'always("01")'),
        ("always(true)", "true", "always(true)"),
        ("always(thompson)", "thompson", "always(thompson)"),
        ("floor(always('Plazebo, süß'))", "Plazebo, süß", 'floor(always("Plazebo, süß"))'),
    ],
)
def test_an_arm_is_written_by_its_name(text: str, arm: str | int, canonical: str) -> None:
    made: Any = parse_policy(text)
    assert getattr(made, "inner", made).arm == arm
    assert str(made) == canonical
    assert parse_policy(canonical) == made
    assert from_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("always", "always arm: got None, expected the name of an arm, or its number from 0"),
        ("always()", "always arm: got None, expected the name of an arm"),
        ("always(, patch)", "expected the name of an arm at character 8"),
        ("always(patch", r"expected '\)' at character 13"),
        ("always('patch'x)", r"expected ',' or '\)' at character 15"),
        ("always(gum, mint)", r"^policy always takes at most 1 argument \(got 2\); .*in quotation marks"),
        ("always(placebo (sugar))", r"expected '\)', or the arm in quotation marks at character 16"),
        ("alway(patch)", r"^policy: got 'alway', expected .*did you mean 'always'"),
        ("thompson(patch)", r"^policy thompson takes no arguments \(got 1\)"),
        ("floor(thompson, high)", r"^floor share: got 'high', expected a number"),
    ],
)
def test_a_mistake_is_named_where_it_is(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_policy(text)


def test_names_are_found_in_any_letters_and_with_any_blanks() -> None:
    shape = TrialShape(3, arms=("Placebo", "Patch", "nicotine gum"))
    found = [shape.index_of("arm", arm) for arm in ("placebo", "Patch", "Nicotine  gum ", 1)]
    assert found == [0, 1, 2, 1]
    alike = TrialShape(2, arms=("a", "A"))
    assert [alike.index_of("arm", arm) for arm in ("a", "A")] == [0, 1]
    with pytest.raises(InputError, match=r"^always arm: 'pach' is not an arm; expected .*did you mean 'Patch'"):
        Always("pach").assemble(shape)
    with pytest.raises(InputError, match=r"^always arm: got '2', expected a number from 0 to 1, since the arms have"):
        Always("2").assemble(TrialShape(2))


@pytest.mark.parametrize(
    ("text", "arms", "says"),
    [
        ("always('1')", ("2", "9", "10"), r"'1' is not an arm; expected one of 2, 9, 10$"),
        ("always(1)", ("2", "9", "10"), r"1 is not an arm; expected one of 2, 9, 10 \(a number is a name here\)$"),
        ("always(01)", ("1", "0"), r"'01' is not an arm; expected one of 1, 0"),
        ("always(0)", ("Placebo", "5.5"), r"0 is not an arm; expected one of Placebo, 5.5"),
        ("always('0')", ("a", "b"), r"'0' is not an arm; expected one of a, b, or a number from 0 to 1, not quoted$"),
        ("always(2)", ("a", "b"), r"2 is not an arm; expected one of a, b, or a number from 0 to 1$"),
    ],
)
def test_a_name_that_does_not_exist_never_becomes_a_position(text: str, arms: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=f"^always arm: {says}"):
        parse_policy(text).assemble(TrialShape(len(arms), arms=arms))
    with pytest.raises(InputError, match=f"^always arm: {says}"):
        Trial(text, arms)


def test_a_number_is_a_name_where_a_name_is_a_number() -> None:
    shape = TrialShape(3, arms=("2", "9", "1"))
    assert [shape.index_of("arm", arm) for arm in (1, "1", 9, "2")] == [2, 2, 1, 0]


def test_a_simulation_knows_its_arms() -> None:
    result = simulate(["always(control)", "always(TREATMENT)", "always(1)"], "rich-and-poor", 50, 5, progress=False)
    assert [one.allocation["treatment"].mean for one in result] == [0.0, 1.0, 1.0]
    assert result["rich-and-poor", "always(control)"].regret.mean == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match=r"^always arm: 'patch' is not an arm; expected one of control, treatment"):
        simulate("always(patch)", "rich-and-poor", 50, 5, progress=False)


def test_a_live_trial_knows_its_arms() -> None:
    trial = Trial("always(patch)", ["placebo", "patch"])
    recommendation = trial.recommend()
    assert recommendation.arm == "patch"
    assert recommendation.probabilities == {"placebo": 0.0, "patch": 1.0}
    assert make_design("t", "floor(always(Patch), share=0.2)", trial.arms).policy == "floor(always(Patch), share=0.2)"
    with pytest.raises(InputError, match=r"^always arm: 'pill' is not an arm; expected one of placebo, patch"):
        Trial("always(pill)", ["placebo", "patch"])


def test_the_top_of_a_hierarchy_has_experts_for_arms() -> None:
    with pytest.raises(InputError, match=r"^always arm: got 'control', expected a number from 0 to 2"):
        simulate("hierarchical(thompson, top=always(control))", "rich-and-poor", 50, 5, progress=False)


def test_a_policy_of_ones_own_may_have_an_arm() -> None:
    @policy("mostly")
    class Mostly(Learner):
        """For tests."""

        arm: str = arm_parameter()

    @implements(choose, Mostly)
    def choose_mostly(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
        return int(rule.arm)

    @implements(learn, Mostly)
    def learn_mostly(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
        """Nothing."""

    try:
        assert Mostly("patch").assemble(TrialShape(2, arms=("placebo", "patch"))).rule.arm == 1.0
    finally:
        del registry["mostly"]
