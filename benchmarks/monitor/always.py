"""A policy that always recommends the same arm, for two trials that differ in nothing else."""

from adhere.policies import Learner, choose, implements, learn, parameter, policy, probabilities


@policy("always")
class Always(Learner):
    """The second arm with a share of 1, the first with 0."""

    second: float = parameter(default=0.0, at_least=0.0, at_most=1.0)


@implements(choose, Always)
def choose_always(rule, state, memo, weight, rng):
    """The arm."""
    return int(rule.second > 0.5)


@implements(learn, Always)
def learn_always(rule, state, memo, arm, reward, weight, rng):
    """Nothing."""


@implements(probabilities, Always)
def probabilities_always(rule, state, memo, weight, out, rng):
    """All for one arm."""
    out[0] = 1.0 - rule.second
    out[1] = rule.second
