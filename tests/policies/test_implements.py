"""What is declared runs; what would not run is refused, in a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adhere import InputError, Learner, Thompson
from adhere.policies import (
    ComplianceAwareLearner,
    Memo,
    Policy,
    State,
    choose,
    draw_from,
    implements,
    learn,
    policy,
    probabilities,
    registry,
    remember,
)
from adhere.policies.base.generic import component, replay_choice, update
from adhere.policies.base.policy import TrialShape
from adhere.policies.hybrids.recycling import holds_arm


@pytest.fixture(autouse=True)
def _forget_what_a_test_declares() -> Iterator[None]:
    before = dict(registry)
    yield
    registry.clear()
    registry.update(before)


@policy("of-one-arm")
class OfOneArm(Learner):
    """Declared, never run."""


@policy("of-both-arms")
class OfBothArms(ComplianceAwareLearner):
    """Likewise."""


class Undeclared(Learner):
    """Without @policy."""


class Renamed(Thompson):
    """Without @policy, of a class that has it."""


def with_5(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    return 0


def with_7(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None: ...


def with_8(
    rule: Any, state: Any, memo: Any, chosen: int, actual: int, reward: float, weight: float, rng: Any
) -> None: ...


def with_any(*rule: Any) -> None: ...


SIGNATURE = r"\(rule, state, memo, arm, reward, weight, rng\)"
OF_BOTH = r"\(rule, state, memo, chosen, actual, reward, weight, rng\)"


@pytest.mark.parametrize(
    ("generic", "owner", "function", "message"),
    [
        (update, OfOneArm, with_8, rf"test_implements\.py line \d+: with_8: got 'update of OfOneArm', expected one of"
         rf" choose, learn, remember, probabilities, remember_guarded; .*derive OfOneArm .* learn{OF_BOTH}"),
        (update, OfBothArms, with_8, r"got 'update of OfBothArms', expected one of choose, learn, remember,"),
        (component, OfOneArm, with_5, "got 'component of OfOneArm', expected one of choose"),
        (replay_choice, OfOneArm, with_5, "got 'replay_choice of OfOneArm', expected one of choose"),
        (holds_arm, OfOneArm, with_5, "got 'holds_arm of OfOneArm', expected one of choose"),
        (draw_from, OfOneArm, with_5, "got 'draw_from', expected a function that policies implement, such as choose"),
        ("choose", OfOneArm, with_5, "got 'choose', expected a function that policies implement"),
        (choose, Undeclared, with_5, r"got 'choose of Undeclared', expected .* a class declared with @policy"),
        (choose, Renamed, with_5, r"got 'choose of Renamed', expected .* a class declared with @policy"),
        (choose, dict, with_5, r"got 'choose of dict', expected .* a class declared with @policy"),
        (choose, OfOneArm(), with_5, r"got .choose of OfOneArm\(.*\)., expected .* a class declared with @policy"),
        (choose, "of-one-arm", with_5, r"got 'choose of of-one-arm', expected .* a class declared with @policy"),
        (choose, Thompson, with_5, r"got 'choose of Thompson', expected .* a policy of your own"),
        (choose, OfOneArm, with_7, r"got '7 arguments \(rule, .*rng\)', expected 5, as choose of .*: \(rule, state,"),
        (remember, OfOneArm, with_5, r"expected 3, as remember of OfOneArm takes them: \(rule, state, memo\)"),
        (learn, OfOneArm, with_5, rf"expected 7, as learn of OfOneArm takes them: {SIGNATURE}"),
        (learn, OfOneArm, with_8, rf"expected 7, .*: {SIGNATURE}; to be told both arms, derive it from Comp"),
        (learn, OfBothArms, with_7, rf"expected 8, .*: {OF_BOTH}; to be told the one arm .*, derive it from Learner"),
        (learn, OfOneArm, with_any, rf"got '\(\*rule\)', expected 7, .*: {SIGNATURE}"),
        (learn, OfOneArm, print, "got 'learn of OfOneArm', expected a plain function"),
    ],
)  # fmt: skip
def test_what_would_not_run_is_refused(generic: Any, owner: Any, function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        implements(generic, owner)(function)
    assert len(str(error.value).splitlines()) == 1


def test_a_function_is_implemented_once_and_before_the_policy_runs() -> None:
    @policy("implemented-twice")
    class Twice(Learner):
        """For this test."""

    implements(choose, Twice)(with_5)
    with pytest.raises(InputError, match=r"got 'a second choose of Twice', expected one: with_5 is it"):
        implements(choose, Twice)(with_5)
    with pytest.raises(InputError, match="got 'no learn'"):
        Twice().assemble(TrialShape(2))
    implements(learn, Twice)(with_7)
    Twice().assemble(TrialShape(2))
    with pytest.raises(InputError, match="got 'a late remember of Twice', expected it before the policy first runs"):
        implements(remember, Twice)(lambda rule, state, memo: None)


def declare(kind: type, **options: Any) -> Callable[[], Any]:
    return lambda: policy("declared", **options)(type("Declared", (kind,), {"__module__": __name__}))


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        (declare(object), r"^policy declared: got 'class Declared', expected a class derived from Learner, Compl"),
        (declare(Policy), "got 'class Declared', expected a class derived from Learner, .* with rule="),
        (declare(Learner, state=Memo), r"^policy declared state: got .*Memo.*, expected a class derived from State"),
        (declare(Learner, state=3), r"^policy declared state: got 3, expected a class derived from State"),
        (declare(Learner, memo=State), r"^policy declared memo: got .*State.*, expected a class derived from Memo"),
        (declare(Learner, state=State({}, None)), "^policy declared state: got "),  # type: ignore[arg-type]
        (declare(Policy, rule=dict), "^policy declared rule: got .*dict.*, expected a NamedTuple .* laid_out"),
        (declare(Learner, rule=Thompson.rule_class), "^policy declared rule: .*only a hybrid"),
    ],
)
def test_a_declaration_that_would_not_run_is_refused(declaration: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        declaration()
    assert "declared" not in registry


def test_state_beside_a_rule_is_refused() -> None:
    rule, state = registry["hierarchical"].rule_class, registry["thompson"].rule_class.State
    with pytest.raises(InputError, match=r"state and memo: got 'both beside rule', expected .*laid_out"):
        declare(Policy, rule=rule, state=state)()


def test_what_is_accepted_takes_any_names_of_arguments() -> None:
    @policy("accepted")
    class Accepted(ComplianceAwareLearner):
        """For this test."""

    implements(learn, Accepted)(with_8)
    implements(probabilities, Accepted)(lambda a, b, c, d, e, f=0: None)
