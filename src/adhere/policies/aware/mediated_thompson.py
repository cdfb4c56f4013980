"""Thompson sampling on the assumption, until data contradict it, that rewards depend only on the arm taken."""

import dataclasses
from typing import ClassVar, Self

from adhere.compilation import Memo, State, implements
from adhere.errors import InputError
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import ComplianceAwareLearner
from adhere.policies.base.parameters import parameter
from adhere.policies.numerics.beta import draw_success
from adhere.policies.numerics.mediated_posterior import (
    ODDS,
    MediatedMemo,
    MediatedPosterior,
    count,
    draw_best,
    probabilities_of_best,
    weigh_hypotheses,
)
from adhere.randomness import Stream


@policy("mediated-thompson", state=MediatedPosterior, memo=MediatedMemo)
class MediatedThompson(ComplianceAwareLearner):
    """Thompson sampling that uses the arms taken, unless the data contradict this.

    There are two hypotheses.

    - *Mediated*: given the arm taken, the reward does not depend on the arm recommended. All patients who took an arm
      are then evidence about it.
    - *Confounded*: the reward also depends on the arm recommended, for example because patients who take an arm on
      their own differ from the others.

    One hypothesis is drawn by its posterior probability:

        mediated:    θ_a ~ Beta(1 + S_a, 1 + F_a), P(·|c) ~ Dirichlet(1 + n_c);
                     recommend the c with the largest Σ_a P(a|c) θ_a
        confounded:  μ_c ~ Beta(1 + S_c, 1 + F_c); recommend the c with the largest μ_c,
                     which is Thompson sampling under Chosen

    Here S_a and F_a are the successes and failures of all patients who took a, S_c and F_c those of all patients who
    were recommended c, and n_ca the number of patients who were recommended c and took a.

    Each outcome multiplies the odds of mediated to confounded by the ratio of the probabilities that the hypotheses
    gave to it. For a success this ratio is (1 + S_a) / (2 + N_a), from all patients who took a, over
    (1 + s_ca) / (2 + n_ca), from the patients who were also recommended c. A failure has failures in their place.

    Parameters
    ----------
    odds : float, optional
        Prior odds of mediated to confounded, above 0; inf always assumes mediated. The default is 0.15 to the power
        k - 1 for k arms, because more arms leave more room for error.
    fading_odds : float, optional
        Prior odds that replace `odds` and are divided by 1 + m, where m is the smallest number of patients who were
        recommended the same arm. If both hypotheses fit, the odds grow with m only because mediated has fewer means
        to learn. Dividing by 1 + m cancels this growth, so that the policy never stops testing.

    See Also
    --------
    Thompson : The policy for the confounded hypothesis alone.
    ThompsonBounded : A hybrid that gives this policy a guarantee.

    Notes
    -----
    The prior is a robust mixture prior, like those that borrow from historical controls: the other patients count as
    long as they agree with an arm's own patients. With odds near 0 this is Thompson sampling under Chosen. `odds=inf`
    is the method of Stirn & Jebara, according to their abstract.

    A reward between 0 and 1 becomes a Bernoulli draw. "Took nothing" and "took something else" are separate cells.

    The stated probabilities are those of the draw. With two arms, if mediated, arm 1 is the better one to recommend
    if P(1|1) - P(1|0) and θ_1 - θ_0 have the same sign. Two recurrences like that of `thompson` give this
    probability, and a third gives that under the confounded hypothesis. With more arms, or once a patient took
    neither of two arms, each recommendation has its own list of 64 draws under the mediated hypothesis. The stated
    probability is the frequency of each arm in the list, and the recommended arm is one of them. An exploration floor
    over all arms, half a draw divided by the number of patients, keeps every arm possible.

    No regret bound is proved. While the policy believes in the mediated hypothesis, it may stop filling the cells
    that would refute it. `thompson-bounded(mediated-thompson)` has the paper's guarantee.

    References
    ----------
    Schmidli, Gsteiger, Roychoudhury, O'Hagan, Spiegelhalter & Neuenschwander (2014), "Robust meta-analytic-predictive
    priors in clinical trials with historical control information"; Stirn & Jebara (2018), "Thompson sampling for
    noncompliant bandits".

    Examples
    --------
    >>> str(MediatedThompson(odds=0.3))
    'mediated-thompson(odds=0.3)'
    >>> MediatedThompson().resolved(n_arms=3, horizon=None).odds
    0.0225
    >>> from adhere import simulate
    >>> policies = ["thompson", "mediated-thompson"]
    >>> for population in ("homogeneous", "rich-and-poor"):
    ...     outcomes = simulate(policies, population, 500, 100, progress=False).outcomes
    ...     print([round(one.surplus.mean, 1) for one in outcomes])
    [3.0, 4.8]
    [22.9, 23.0]

    """

    matches_probability: ClassVar[bool] = True
    odds: float | None = parameter(default=None, above=0, infinite=True)
    fading_odds: float | None = parameter(default=None, above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.odds is not None and self.fading_odds is not None:
            sentence = f"{self.name} takes odds=…, which are constant, or fading_odds=…, not both"
            raise InputError(f"{self.name} odds", self.odds, "no fading_odds beside it", sentence)

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Return the policy with its default odds filled in, so that a trial's design shows them."""
        if self.odds is not None or self.fading_odds is not None:
            return self
        return dataclasses.replace(self, odds=ODDS ** (n_arms - 1))


@implements(choose, MediatedThompson)
def choose_mediated(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Draw a hypothesis in proportion to its odds, then the best arm under it."""
    return draw_best(rule, state, memo, rng)


@implements(learn, MediatedThompson)
def learn_mediated(
    rule: Rule, state: State, memo: Memo, chosen: int, actual: int, reward: float, weight: float, rng: Stream
) -> None:
    """Update the odds of the hypotheses, then count a success or a failure."""
    success = draw_success(reward, rng)
    weigh_hypotheses(rule, state, chosen, actual, success)
    count(rule, state, chosen, actual, success)


@implements(probabilities, MediatedThompson)
def probabilities_mediated(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the probability that each arm is drawn."""
    probabilities_of_best(rule, state, memo, out, rng)
