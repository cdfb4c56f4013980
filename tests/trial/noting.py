"""A policy that writes its memo in `choose`, and whose probabilities must be estimated by choosing again."""

from typing import Any

from adhere.policies import Index, Learner, Memo, PerArm, State, choose, implements, learn, policy
from adhere.randomness import uniform


class NotingState(State):
    agreements = PerArm()
    disagreements = PerArm()


class NotingMemo(Memo):
    noted = Index()


@policy("noting", state=NotingState, memo=NotingMemo)
class Noting(Learner):
    """Any arm with the same probability; it counts how often the arm it noted is the arm it is told of."""


@implements(choose, Noting)
def choose_noting(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """Note the arm."""
    arm = int(uniform(rng) * rule.n_arms)
    memo.noted = arm
    return arm


@implements(learn, Noting)
def learn_noting(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Compare."""
    if memo.noted == arm:
        state.agreements[arm] += 1.0
    else:
        state.disagreements[arm] += 1.0
