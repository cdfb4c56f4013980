"""Softmax without arrays, and with exact probabilities: faster, and fit for a live trial."""

import math

from adhere.policies import Learner, PerArm, State, choose, implements, learn, parameter, policy, probabilities
from adhere.randomness import uniform


class ExactSoftmaxState(State):
    credits = PerArm()
    means = PerArm()


@policy("softmax-exact", state=ExactSoftmaxState)
class ExactSoftmax(Learner):
    """Arm j with a probability proportional to exp(mean reward of j / temperature): Boltzmann exploration."""

    temperature: float = parameter(default=0.1, at_least=0.002)


@implements(choose, ExactSoftmax)
def choose_softmax(rule, state, memo, weight, rng):
    best, highest = 0, -math.inf
    for arm in range(rule.n_arms):
        noise = -math.log(-math.log(1.0 - uniform(rng)))  # Gumbel: the largest sum has the softmax distribution
        value = state.means[arm] / rule.temperature + noise
        if value > highest:
            best, highest = arm, value
    return best


@implements(probabilities, ExactSoftmax)
def probabilities_softmax(rule, state, memo, weight, out, rng):
    highest = -math.inf
    for arm in range(rule.n_arms):
        highest = max(highest, state.means[arm])
    total = 0.0
    for arm in range(rule.n_arms):
        out[arm] = math.exp((state.means[arm] - highest) / rule.temperature)
        total += out[arm]
    for arm in range(rule.n_arms):
        out[arm] /= total


@implements(learn, ExactSoftmax)
def learn_softmax(rule, state, memo, arm, reward, weight, rng):
    state.credits[arm] += 1.0
    state.means[arm] += (reward - state.means[arm]) / state.credits[arm]
