"""HAC-UCB: upper confidence bounds by arm taken, replaced by bounds by arm chosen once a test contradicts them."""

import math
from typing import Final

from adhere.compilation import Memo, Number, PerArm, PerPair, State, Vector, implements, inline
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Rule, choose, learn, probabilities
from adhere.policies.base.learner import ComplianceAwareLearner
from adhere.policies.base.parameters import parameter
from adhere.policies.numerics.selection import choose_largest_index, index_of, probabilities_of_largest_index
from adhere.randomness import Stream

_PLACES: Final = 2.0**40


class HacUcbState(State):
    """State of HAC-UCB. A *cell* is what a patient took: an arm, something else or nothing."""

    patients = PerPair()  # patients by arm chosen and cell
    told = PerArm()  # number of updates for each arm chosen
    told_rewards = PerArm()  # sum of their rewards
    took = Vector(lambda rule: rule.n_arms + 2)  # number of updates for each cell, over all arms chosen
    took_rewards = Vector(lambda rule: rule.n_arms + 2)
    scale = Number(lambda rule: 0.5 * math.log(1.0 / rule.delta))  # the squared width of the bound of one update
    refuted = Number()  # 1 once the test has failed
    indices = PerArm()  # the arm with the largest index is recommended


def exploration_of(n_arms: int, horizon: int) -> float:
    """Return how many updates each arm gets before bounds are compared, as in the authors' program."""
    return float(round(math.sqrt(horizon) / n_arms + 1.0))


def delta_of(n_arms: int, horizon: int) -> float:
    """Return the default δ = 1/T², the value in the authors' simulations."""
    return 1.0 / horizon**2


@policy("hac-ucb", state=HacUcbState)
class HacUcb(ComplianceAwareLearner):
    """Recommend by upper bounds of the arms taken, until they contradict the bounds of the arms recommended.

    With n updates, a bound is mean + w(n), where w(n) = √(ln(1/δ) / (2 max(n, 1))). For an arm c
    recommended and an arm a taken,

        U(c) = bound of all patients who were recommended c,
        V(c) = Σ_a P(a|c) · bound of all patients who took a.

    First every arm gets `explore` updates. Then the arm with the largest V is recommended (C-UCB), as long as every
    arm satisfies

        U(c) - V(c) ≤ 2 w(n_c)    and    V(c) - U(c) ≤ 2 Σ_a P(a|c) · w(n_a);

    Once an arm fails this test, the arm with the largest U is recommended to the end of the trial (UCB).

    Parameters
    ----------
    explore : float, optional
        Number of updates of each arm before the comparison begins. The default is round(√T / k + 1) for a trial of T
        patients.
    delta : float, optional
        Error probability δ of one bound, above 0 and at most 1. The default is 1/T².

    See Also
    --------
    MediatedThompson : A Bayesian policy with the same purpose.
    Ucb1 : Upper confidence bounds by one arm.

    Notes
    -----
    The authors call the recommendation the *intervention*, and what was taken the *post-action context*. Suppose that
    the context separates recommendation and reward: patients who take the same arm do not differ by what was
    recommended. Then V is right, and it pools all patients.

    This implementation follows the program behind the figures in the authors' paper, with these differences:

    - P(a|c) is the observed share among the updates so far. In the program it is known. Algorithm 1 of the paper is
      for a P that is known approximately. It explores about five times as long, and its test tolerates √(k N ln T) /
      T^¼ more, where N is the number of cells. With two arms and T = 2000 this is more than 0.8, so that the test
      could hardly fail. Neither is done here, and none of the paper's regret bounds is claimed.
    - "Took nothing" and "took something else" are separate cells.
    - The authors explore the arms in order, and select the first of equal arms. Here arms whose indices agree to
      twelve decimal places are drawn at random. Exploration recommends an arm with the fewest updates, which also
      works with late feedback.
    - The test is made at every update after exploration, not at every recommendation. If feedback is immediate, this
      makes no difference. With late feedback the order of the updates may matter, since one failure is enough.

    References
    ----------
    Bilodeau, Wang & Roy (2022), "Adaptively exploiting d-separators with causal bandits".
    Lu, Meisami, Tewari & Yan (2020), "Regret analysis of bandit problems with causal background knowledge" (C-UCB).

    Examples
    --------
    >>> str(HacUcb(explore=5))
    'hac-ucb(explore=5)'
    >>> HacUcb().resolved(n_arms=2, horizon=2500)
    HacUcb(explore=26.0, delta=1.6e-07)
    >>> from adhere import simulate
    >>> result = simulate("hac-ucb", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    44.0

    """

    explore: float | None = parameter(
        default=None, at_least=1, from_horizon=exploration_of, symbol="how long HAC-UCB explores"
    )
    delta: float | None = parameter(default=None, above=0, at_most=1, from_horizon=delta_of, symbol="HAC-UCB's δ")


@inline
def mean_of(total: float, n: float) -> float:
    """Return the mean of n rewards, or 0 if n is 0."""
    return total / max(n, 1.0)


@inline
def width_of(state: State, n: float) -> float:
    """Return how far the upper bound after n updates lies above the mean."""
    return math.sqrt(state.scale / max(n, 1.0))


@inline
def rounded(index: float) -> float:
    """Round an index to about twelve decimal places, so that ties do not depend on a machine's rounding of sums."""
    return math.floor(index * _PLACES + 0.5) / _PLACES


@implements(index_of, HacUcb.rule_class)
def index_of_arm(rule: Rule, state: State, arm: int) -> float:
    """Return the index of the arm that the last update computed."""
    return state.indices[arm]  # type: ignore[no-any-return]


implements(choose, HacUcb)(choose_largest_index)
implements(probabilities, HacUcb)(probabilities_of_largest_index)


@implements(learn, HacUcb)
def learn_hac_ucb(
    rule: Rule, state: State, memo: Memo, chosen: int, actual: int, reward: float, weight: float, rng: Stream
) -> None:
    """Count the patient by chosen arm and cell, and compute the indices for the next decision."""
    cell = actual if actual >= 0 else rule.n_arms + 2 + actual
    state.patients[chosen, cell] += 1.0
    state.told[chosen] += 1.0
    state.told_rewards[chosen] += reward
    state.took[cell] += 1.0
    state.took_rewards[cell] += reward
    fewest = state.told[0]
    for arm in range(1, rule.n_arms):
        fewest = min(fewest, state.told[arm])
    if fewest < rule.explore:
        state.indices[chosen] = -state.told[chosen]
    else:
        compare_bounds(rule, state)


@inline
def compare_bounds(rule: Rule, state: State) -> None:
    """Compute the indices by cell. Once they have contradicted the bounds by chosen arm, use those bounds instead."""
    for arm in range(rule.n_arms):
        pooled, widths = 0.0, 0.0
        for cell in range(rule.n_arms + 2):
            share = state.patients[arm, cell] / state.told[arm]
            width = width_of(state, state.took[cell])
            pooled += share * (mean_of(state.took_rewards[cell], state.took[cell]) + width)
            widths += share * width
        width = width_of(state, state.told[arm])
        own = mean_of(state.told_rewards[arm], state.told[arm]) + width
        if (own - pooled > 2.0 * width) | (pooled - own > 2.0 * widths):
            state.refuted = 1.0
        state.indices[arm] = rounded(pooled)
    if state.refuted == 1.0:
        for arm in range(rule.n_arms):
            bound = mean_of(state.told_rewards[arm], state.told[arm]) + width_of(state, state.told[arm])
            state.indices[arm] = rounded(bound)
