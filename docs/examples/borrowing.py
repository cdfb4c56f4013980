"""Borrowing: what an arm makes people take, and what that does to them. A policy that sees both arms."""

from adhere.policies import ComplianceAwareLearner, PerPair, State, choose, implements, learn, parameter, policy
from adhere.randomness import uniform


class BorrowingState(State):
    patients = PerPair()  # how many were told one arm and took another
    rewards = PerPair()  # and the sum of their rewards


@policy("borrowing", state=BorrowingState)
class Borrowing(ComplianceAwareLearner):
    """The mean reward of those told one arm and taking another, shrunk to that of all who took the same."""

    strength: float = parameter(default=4.0, above=0)


@implements(choose, Borrowing)
def choose_borrowing(rule, state, memo, weight, rng):
    best, highest = 0, -2.0
    for arm in range(rule.n_arms):
        told, gained = 0.0, 0.0
        for taken in range(rule.n_arms + 2):  # the arms, something else, nothing
            took, reward = 1.0, 0.5  # of all patients, whatever they were told
            for other in range(rule.n_arms):
                took, reward = took + state.patients[other, taken], reward + state.rewards[other, taken]
            n = state.patients[arm, taken]
            mean = (state.rewards[arm, taken] + rule.strength * reward / took) / (n + rule.strength)
            share = n + (taken == arm)  # one patient more who complies
            told, gained = told + share, gained + share * mean
        value = gained / told + (2.0 * uniform(rng) - 1.0) / told**0.5
        best, highest = (arm, value) if value > highest else (best, highest)
    return best


@implements(learn, Borrowing)
def learn_borrowing(rule, state, memo, chosen, actual, reward, weight, rng):
    state.patients[chosen, actual] += 1.0
    state.rewards[chosen, actual] += reward
