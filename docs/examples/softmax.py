"""Softmax: the better an arm has done, the likelier it is chosen. A policy of one's own for `adhere`."""

import numpy as np

from adhere.policies import Learner, PerArm, State, choose, draw_from, implements, learn, parameter, policy


class SoftmaxState(State):
    credits = PerArm()  # how often each arm was credited
    means = PerArm()  # and its mean reward


@policy("softmax", state=SoftmaxState)
class Softmax(Learner):
    """Arm j with a probability proportional to exp(mean reward of j / temperature): Boltzmann exploration."""

    temperature: float = parameter(default=0.1, at_least=0.002)


@implements(choose, Softmax)
def choose_softmax(rule, state, memo, weight, rng):
    weights = np.exp(state.means / rule.temperature)
    return draw_from(weights / weights.sum(), rng)


@implements(learn, Softmax)
def learn_softmax(rule, state, memo, arm, reward, weight, rng):
    state.credits[arm] += 1.0
    state.means[arm] += (reward - state.means[arm]) / state.credits[arm]
