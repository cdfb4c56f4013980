"""Softmax: the better an arm has done, the likelier it is chosen. A policy of one's own for `adhere`."""

import numpy as np

from adhere.policies import Learner, choose, draw_from, implements, learn, parameter, policy


@policy("softmax")
class Softmax(Learner):
    """Arm j with a chance proportional to exp(mean reward of j / temperature): Boltzmann exploration."""

    temperature: float = parameter(default=0.1, at_least=0.002)

    def initial_state(self, n_arms):
        """How often each arm was credited, then the mean reward of each."""
        return np.zeros(2 * n_arms)


@implements(choose, Softmax)
def choose_softmax(rule, state, memo, weight, rng):
    """Draw from the chances."""
    chances = np.exp(state[rule.n_arms : 2 * rule.n_arms] / rule.temperature)
    return draw_from(chances / chances.sum(), rng)


@implements(learn, Softmax)
def learn_softmax(rule, state, memo, arm, reward, weight, rng):
    """Move the mean of the credited arm."""
    state[arm] += 1.0
    state[rule.n_arms + arm] += (reward - state[rule.n_arms + arm]) / state[arm]
