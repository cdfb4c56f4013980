"""A policy that refuses updates: it has a budget of rewards, and raises at the update that would exceed it."""

from typing import Any

from adhere.policies import Learner, Number, State, choose, implements, learn, policy

BUDGET = 3.0


class BudgetState(State):
    spent = Number()
    broken = Number()


@policy("budget", state=BudgetState)
class Budget(Learner):
    """Adds up rewards to at most three."""


@implements(choose, Budget)
def choose_budget(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """Always the second arm."""
    return 1


@implements(learn, Budget)
def learn_budget(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Spend a reward."""
    state.broken = 1.0  # what an update that fails has changed must not stay
    if state.spent + reward > BUDGET:
        raise ValueError("over budget, see /etc/passwd")
    state.spent += reward
    state.broken = 0.0
