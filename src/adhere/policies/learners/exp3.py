"""EXP3: exponential weights for adversarial bandits."""

import math
from typing import Any, ClassVar

from adhere.compilation import Memo, PerArm, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities, remember, remember_guarded
from adhere.policies.base.learner import Learner
from adhere.policies.base.parameters import parameter
from adhere.policies.numerics.exponential_weights import (
    ExponentialWeights,
    guarded_probability,
    raise_weight,
    total_weight,
)
from adhere.policies.numerics.selection import draw_from
from adhere.randomness import Stream


class Exp3Memo(Memo):
    """Probabilities of the arms at a decision, for updates to divide by."""

    probabilities = PerArm()  # of each arm at the decision


def gamma_of(n_arms: int, horizon: int) -> float:
    """Return the γ of Corollary 3.2."""
    return min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1.0) * horizon)))


@policy("exp3", state=ExponentialWeights, memo=Exp3Memo)
class Exp3(Learner):
    """Draw arm j with probability y_j, mixed with uniform exploration, and raise the weight of arms with rewards.

        y_j = (1 - γ) w_j / Σ_i w_i + γ/k,    w_j ← w_j · exp((γ/k) · r / y_j)

    Parameters
    ----------
    gamma : float, optional
        Exploration γ, above 0 and at most 1. The default is min(1, √(k ln k / ((e-1) T))) for a trial of T patients
        (Corollary 3.2).
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    HierarchicalExp3 : Exponential weights over three experts.
    hedge : Exponential weights if the losses of all arms are known.

    Notes
    -----
    The logarithms of the weights are also stored, so that the weights stay finite. Under Actual or Comply, y_j is
    this learner's own probability of the credited arm at the time of the decision. No unbiased weight exists in that
    case, and the authors of the paper observed poor results.

    References
    ----------
    Auer, Cesa-Bianchi, Freund & Schapire (2002), "The nonstochastic multiarmed bandit problem".

    Examples
    --------
    >>> str(Exp3(gamma=0.085, protocol="actual"))
    'exp3(gamma=0.085)/actual'
    >>> Exp3().resolved(n_arms=2, horizon=10_000).gamma
    0.0089...
    >>> from adhere import simulate
    >>> result = simulate("exp3(gamma=0.2)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    35.8

    """

    uses_weight: ClassVar[bool] = True
    gamma: float | None = parameter(default=None, above=0, at_most=1, from_horizon=gamma_of, symbol="EXP3's γ")


@implements(remember, Exp3)
def remember_exp3(rule: Rule, state: State, memo: Memo) -> None:
    """Store the probabilities of this decision, which updates divide by."""
    scale = (1.0 - rule.gamma) / total_weight(rule, state)
    for arm in range(rule.n_arms):
        memo.probabilities[arm] = scale * state.weights[arm] + rule.gamma / rule.n_arms


@implements(choose, Exp3)
def choose_exp3(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> Any:
    """Draw an arm with the stored probabilities."""
    return draw_from(memo.probabilities, rng)


@implements(remember_guarded, Exp3)
def remember_guarded_exp3(rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream) -> None:
    """Store the probability that each arm really had under a guard, for updates to divide by."""
    for arm in range(rule.n_arms):
        memo.probabilities[arm] = guarded_probability(memo.probabilities[arm], shares[arm], kept)


@implements(learn, Exp3)
def learn_exp3(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Raise the weight of the credited arm by an unbiased estimate of its reward."""
    # A negative sign means that a guard left the arm no probability (`guarded_probability`).
    estimate = weight * reward / abs(memo.probabilities[arm])
    raise_weight(state, arm, rule.gamma / rule.n_arms * estimate)


@implements(probabilities, Exp3)
def probabilities_exp3(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Copy the probabilities that `remember` stored into `out`."""
    for arm in range(rule.n_arms):
        out[arm] = memo.probabilities[arm]
