"""The two kinds of learners: those that see the arm credited by their protocol, and those that see both arms."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from adhere.compilation import Memo, State, implements
from adhere.errors import InputError
from adhere.policies.base.generic import Rule, learn, learn_recycled, update
from adhere.policies.base.policy import AnyLearner, TrialShape, parameters_of
from adhere.protocols import CHOSEN, Protocol, as_protocol, credits_chosen, feedback_table
from adhere.randomness import Stream

BOTH_ARMS = ("rule", "state", "memo", "chosen", "actual", "reward", "weight", "rng")
_learn_of_both: Any = learn  # a compliance-aware learner's `learn` takes one argument more


@dataclass(frozen=True)
class Learner(AnyLearner):
    """Base class of a bandit that learns from one credited arm.

    A subclass declares its numbers with `parameter`, what it learns as a `State`, and what a decision must remember
    as a `Memo`. It implements the functions `choose` and `learn`, and `remember` and `probabilities` if they apply.
    These functions receive a rule, which contains the declared numbers (NaN for None), `n_arms` and the table
    `credit`.

    Parameters
    ----------
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    ComplianceAwareLearner : The base class of bandits that learn from both arms.
    Thompson : A learner.
    check_policies : Check a policy of your own.

    Examples
    --------
    >>> from adhere import Learner, Thompson
    >>> issubclass(Thompson, Learner)
    True
    >>> learner = Thompson().under("actual")
    >>> str(learner), learner.is_certified(n_arms=2)
    ('thompson/actual', False)

    """

    kind: ClassVar[str] = "learner"
    rule_fields: ClassVar[tuple[str, ...]] = ("n_arms", "credit")
    protocol: Protocol = field(default=CHOSEN, kw_only=True, metadata={"check": lambda _, value: as_protocol(value)})

    def __new__(cls, *values: object, **named: object) -> Self:
        """Refuse a protocol that is passed by position, and show how to pass it by name."""
        if len(values) > len(parameters_of(cls)):
            call = f"{cls.__name__}(protocol={values[-1]!r})"
            raise InputError("protocol", values[-1], call, f"{cls.__name__} takes its protocol by name: {call}")
        return super().__new__(cls)

    def __str__(self) -> str:
        return super().__str__() if self.protocol == CHOSEN else f"{super().__str__()}/{self.protocol}"

    def under(self, protocol: Protocol) -> Self:
        """Return the same learner under another protocol."""
        return dataclasses.replace(self, protocol=protocol)

    def is_certified(self, n_arms: int) -> bool:
        """Return whether the learner's protocol is Chosen, given by name or by table."""
        return credits_chosen(self.protocol, n_arms)

    def _tables(self, shape: TrialShape) -> tuple[Any, ...]:
        return (feedback_table(self.protocol, shape.n_arms),)

    @classmethod
    def instead(cls) -> str:
        """Return a hint for a Learner that implements `update`: use ComplianceAwareLearner."""
        return (
            "; a learner learns by learn alone, which is told the arm that its protocol credits. To see both arms,"
            f" derive {cls.__name__} from ComplianceAwareLearner and implement learn({', '.join(BOTH_ARMS)})"
        )

    @classmethod
    def arguments_of(cls, generic: Any) -> tuple[Sequence[str] | None, str]:
        """Return None, since arguments are named as in the generic function; for `learn`, also return a hint."""
        return None, "; to be told both arms, derive it from ComplianceAwareLearner" if generic is learn else ""


@dataclass(frozen=True)
class ComplianceAwareLearner(AnyLearner):
    """Base class of a bandit that learns from both the arm recommended and the arm taken.

    A subclass is declared like a `Learner`, but has no protocol. Its function ``learn(rule, state, memo, chosen,
    actual, reward, weight, rng)`` is called once for each patient, when both the reward and the arm taken are known.
    `actual` is an arm, `TOOK_NOTHING` or `TOOK_OTHER`. The rule contains the declared numbers and `n_arms`.

    As an expert of a hierarchy it is never certified: it learns from every round.

    See Also
    --------
    Learner : The base class of bandits that learn from one credited arm.
    MediatedThompson : A compliance-aware learner.
    check_policies : Check a policy of your own.

    Examples
    --------
    >>> from adhere import ComplianceAwareLearner, MediatedThompson, parse_policy
    >>> issubclass(MediatedThompson, ComplianceAwareLearner)
    True
    >>> parse_policy("mediated-thompson").kind
    'learner that sees both arms'

    """

    kind: ClassVar[str] = "learner that sees both arms"

    @classmethod
    def arguments_of(cls, generic: Any) -> tuple[Sequence[str] | None, str]:
        """Return the argument names of `learn`, which include both arms, and a hint (None for other functions)."""
        if generic is not learn:
            return None, ""
        return BOTH_ARMS, "; to be told the one arm that a protocol credits, derive it from Learner"

    @classmethod
    def declared(cls) -> None:
        """Register the update that all compliance-aware learners share."""
        implements(update, cls.rule_class)(update_both_arms)
        implements(learn_recycled, cls.rule_class)(learn_nothing)


def update_both_arms(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Learn once the actual arm is known (`generic` explains the feedback codes)."""
    n_arms, known = rule.n_arms, np.int64(feedback)  # feedback is unsigned if it can only be an arm
    if known != n_arms:
        actual = known
        if known < 0:
            actual = known + 1
        elif known > 2 * n_arms:
            actual = 2 * n_arms - known
        elif known > n_arms:
            actual = known - n_arms - 1
        _learn_of_both(rule, state, memo, chosen, actual, reward, weight, rng)


def learn_nothing(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Learn nothing: for policies that do not learn, and for recycled outcomes, which only certified experts get."""
