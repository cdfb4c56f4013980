"""The Bayes-optimal policy for two arms that learns from both the chosen arm and the arm taken."""

from typing import Any, ClassVar

from adhere.compilation import Memo, PerArm, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import ComplianceAwareLearner
from adhere.policies.base.parameters import horizon_parameter
from adhere.policies.base.policy import TrialShape
from adhere.policies.numerics.beta import draw_success
from adhere.policies.tables.bayes_optimal import MAX_HORIZON, UNIFORM_OTHER, check_two_arms, decisions_for
from adhere.policies.tables.dynamic_programming import FIRST, draw_decision, probabilities_of_decision
from adhere.policies.tables.optimum_by_compliance import all_starts, best_recommendation
from adhere.randomness import Stream


class ComplianceCounts(State):
    """Counts of patients by recommendation and arm taken, and successes of each arm taken."""

    after_first = PerArm()
    after_second = PerArm()
    successes = PerArm()


@policy("bayes-optimal-aware", state=ComplianceCounts)
class BayesOptimalAware(ComplianceAwareLearner):
    """Two-arm policy with the highest expected reward if success depends only on the arm taken.

        V_n(s) = max_c E[r + V_{n+1}(s') | arm c recommended, s],    V_T = 0

    under the prior of the population `uniform-other`: P(taken | recommended) and P(success | taken) are independent
    and uniform on [0, 1].

    Parameters
    ----------
    horizon : int, optional
        Number of patients T to plan for, at most 80. The default is the number of patients of the trial.

    See Also
    --------
    BayesOptimal : The optimum for policies that see only the credited arm.
    optimal_surplus : The expected surplus of this policy.

    Notes
    -----
    The policy is computed by exact dynamic programming, like `bayes-optimal`, over counts of recommendations, arms
    taken and rewards. 80 patients take 10 seconds, 0.7 GB of memory and 110 MB of disk. The policy learns nothing
    from a patient who took none of the arms. `optimal_surplus(prior="uniform-other")` returns its expected surplus.

    References
    ----------
    Bradt, Johnson & Karlin (1956), "On sequential designs for maximizing the sum of n observations"; Berry & Fristedt
    (1985), "Bandit problems".

    Examples
    --------
    >>> str(BayesOptimalAware().resolved(n_arms=2, horizon=12))
    'bayes-optimal-aware(horizon=12)'
    >>> from adhere import simulate
    >>> result = simulate("bayes-optimal-aware(horizon=12)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    49.5

    """

    rule_fields: ClassVar[tuple[str, ...]] = ("n_arms", "decisions", "starts")
    horizon: int = horizon_parameter("bayes-optimal-aware", MAX_HORIZON[UNIFORM_OTHER], "larger")

    def _tables(self, shape: TrialShape) -> tuple[Any, ...]:
        check_two_arms(self.name, shape)
        return decisions_for(UNIFORM_OTHER, self.horizon), all_starts(self.horizon)


@implements(choose, BayesOptimalAware)
def choose_bayes_optimal_aware(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Choose the recommendation that the table gives for the counts so far."""
    return draw_decision(best_recommendation(rule, state), rng)


@implements(learn, BayesOptimalAware)
def learn_bayes_optimal_aware(
    rule: Rule, state: State, memo: Memo, chosen: int, actual: int, reward: float, weight: float, rng: Stream
) -> None:
    """Count the arm taken, and a success of this arm if the reward is a success."""
    if actual >= 0:
        if chosen == FIRST:
            state.after_first[actual] += 1.0
        else:
            state.after_second[actual] += 1.0
        if draw_success(reward, rng):
            state.successes[actual] += 1.0


@implements(probabilities, BayesOptimalAware)
def probabilities_bayes_optimal_aware(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Write 1 for the recommendation in the table, or ½ for each arm if they tie."""
    probabilities_of_decision(best_recommendation(rule, state), out)
