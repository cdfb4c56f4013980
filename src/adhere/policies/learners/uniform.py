"""Uniform randomisation, the baseline of every trial."""

from typing import Any

import numpy as np

from adhere.compilation import Memo, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner, learn_nothing
from adhere.randomness import Stream, uniform


@policy("uniform")
class Uniform(Learner):
    """Recommend each of k arms with probability 1/k, whatever was observed.

    Parameters
    ----------
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward. It has no effect, because the policy learns nothing.

    See Also
    --------
    Always : Recommend the same arm to every patient.
    BurnIn : Randomise in permuted blocks first.

    Examples
    --------
    >>> str(Uniform())
    'uniform'
    >>> from adhere import simulate
    >>> result = simulate("uniform", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    0.6

    """


@implements(choose, Uniform)
def choose_uniform(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> Any:
    """Return an arm at random."""
    return np.int64(uniform(rng) * rule.n_arms)


implements(learn, Uniform)(learn_nothing)


@implements(probabilities, Uniform)
def probabilities_uniform(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write 1/k for each arm."""
    for arm in range(rule.n_arms):
        out[arm] = 1.0 / rule.n_arms
