"""The finite-horizon Gittins index: the value of an arm for the remaining patients, including learning."""

from typing import Any, ClassVar

import numpy as np

from adhere.compilation import Memo, PerArm, State, implements, inline
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.parameters import horizon_parameter
from adhere.policies.base.policy import TrialShape
from adhere.policies.numerics.beta import draw_success
from adhere.policies.numerics.selection import choose_largest_index, index_of, probabilities_of_largest_index
from adhere.policies.tables.gittins import MAX_HORIZON, kept_indices, position_of
from adhere.randomness import Stream


class GittinsState(State):
    """Number of rewards and of successes of each arm."""

    rewards = PerArm()  # number of rewards credited to each arm
    successes = PerArm()  # number of successes among them


@policy("gittins", state=GittinsState)
class Gittins(Learner):
    """Recommend the arm with the largest finite-horizon Gittins index, under uniform priors.

        ν(s, f, n) = max_τ E[rewards up to τ] / E[τ],    1 ≤ τ ≤ n

    Here s and f are the successes and failures of the arm, and n is the number of patients to come. The index is the
    best rate of reward that playing this arm, and stopping at the right time, can give. With one patient to come it
    is the posterior mean. With more patients it is larger, especially if little is known about the arm.

    Parameters
    ----------
    horizon : int, optional
        Number of patients T to plan for, at most 1000. The default is the number of patients of the trial.
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    BayesOptimal : The optimal policy for two arms.
    Thompson : A policy that needs no number of patients.

    Notes
    -----
    n is the horizon minus the number of credited rewards, and at least 1. After T rewards, the policy therefore
    recommends the arm with the largest mean. Ties are broken at random. A reward strictly between 0 and 1 becomes a
    Bernoulli draw.

    If the future is discounted forever, the Gittins index is optimal (Gittins, 1979). For a fixed number of patients
    it is nearly optimal: with two arms it gains 99.9% of what `bayes-optimal` gains, in trials of 12 and of 40
    patients. Unlike `bayes-optimal`, it supports any number of arms.

    Indices are computed once for each horizon and then stored on disk. 1,000 patients take 90 seconds of processor
    time in total, 0.7 GB of memory and 0.7 GB of disk. 200 patients take a second and 5 MB. An index is too small by
    at most 10⁻⁵, and by 10⁻⁷ on average. Except for rounding it is never too large.

    References
    ----------
    Gittins (1979), "Bandit processes and dynamic allocation indices"; Niño-Mora (2011), "Computing a classic index
    for finite-horizon bandits"; Kaufmann (2018), "On Bayesian index policies for sequential resource allocation".

    Examples
    --------
    >>> str(Gittins(horizon=100, protocol="actual"))
    'gittins(horizon=100)/actual'
    >>> from adhere import simulate
    >>> result = simulate("gittins", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    49.5

    """

    rule_fields: ClassVar[tuple[str, ...]] = ("n_arms", "credit", "indices")
    horizon: int | None = horizon_parameter("gittins", MAX_HORIZON, "largest")

    def _tables(self, shape: TrialShape) -> tuple[Any, ...]:
        assert self.horizon is not None  # resolved
        return *super()._tables(shape), kept_indices(self.horizon).array()


@inline
def patients_left(rule: Rule, state: State) -> Any:
    """Return the number of patients still to come, at least 1."""
    left = np.int64(rule.horizon)
    for arm in range(rule.n_arms):
        left -= np.int64(state.rewards[arm])
    return max(left, 1)


@implements(index_of, Gittins.rule_class)
def index_of_arm(rule: Rule, state: State, arm: int) -> float:
    """Return the index from the table. For the last patient, return the mean without rounding, so that equal means
    tie.
    """
    n_left = patients_left(rule, state)
    if n_left == 1:
        return (state.successes[arm] + 1.0) / (state.rewards[arm] + 2.0)  # type: ignore[no-any-return]
    n, successes = np.int64(state.rewards[arm]), np.int64(state.successes[arm])
    return float(rule.indices[position_of(np.int64(rule.horizon), n, successes, n_left)])


implements(choose, Gittins)(choose_largest_index)
implements(probabilities, Gittins)(probabilities_of_largest_index)


@implements(learn, Gittins)
def learn_gittins(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Count a success or a failure."""
    state.rewards[arm] += 1.0
    state.successes[arm] += 1.0 if draw_success(reward, rng) else 0.0
