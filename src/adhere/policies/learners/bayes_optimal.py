"""The Bayes-optimal policies for two arms, computed by dynamic programming for a known number of patients."""

from __future__ import annotations

from typing import Any, ClassVar

from adhere.compilation import Memo, PerArm, State, guessed, implements, inline
from adhere.errors import InputError
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import ComplianceAwareLearner, Learner
from adhere.policies.base.parameters import choice
from adhere.policies.base.policy import TrialShape, parameters_of
from adhere.policies.numerics.beta import draw_success
from adhere.policies.tables.bayes_optimal import UNIFORM, UNIFORM_OTHER, decisions_for, horizon_parameter
from adhere.policies.tables.compliance_counts import all_starts, best_recommendation
from adhere.policies.tables.dynamic_programming import FIRST, SECOND, TIE
from adhere.policies.tables.two_arm_counts import best_arm
from adhere.randomness import Stream, uniform


def _check_two_arms(shape: TrialShape) -> None:
    if shape.n_arms != 2:
        raise InputError("policy bayes-optimal", f"{shape.n_arms} arms", "two arms")


class ComplianceCounts(State):
    """How often each arm was taken, after each recommendation, and how often with success."""

    after_first = PerArm()
    after_second = PerArm()
    successes = PerArm()


# The registry is to know the class declared below; that of both arms is made where `prior` asks for it.
@policy("bayes-optimal", state=ComplianceCounts)
class BayesOptimalOfBothArms(ComplianceAwareLearner):
    """`bayes-optimal(prior=uniform-other)`: what `BayesOptimal` makes of that prior."""

    rule_fields: ClassVar[tuple[str, ...]] = ("n_arms", "decisions", "starts")
    horizon: int = horizon_parameter(UNIFORM_OTHER)
    prior: str = choice(default=UNIFORM, options=(UNIFORM_OTHER,))

    def _tables(self, shape: TrialShape) -> tuple[Any, ...]:
        _check_two_arms(shape)
        return decisions_for(UNIFORM_OTHER, self.horizon), all_starts(self.horizon)


class SuccessCounts(State):
    """Counts of each arm, without the prior."""

    successes = PerArm()
    failures = PerArm()


@policy("bayes-optimal", state=SuccessCounts)
class BayesOptimal(Learner):
    """The two-arm policy with the highest expected reward over a known number of patients, under uniform priors.

        V_n(s) = max_j E[r + V_{n+1}(s') | arm j, s],    V_T = 0

    Parameters
    ----------
    horizon
        T, the number of patients it plans for: at most 500 (80 for "uniform-other"). Unset, that of the trial.
    prior
        "uniform" (default): each arm's success rate is uniform on [0, 1], learned from the arm that the protocol
        credits. "uniform-other": as in the population of that name, success depends on the arm taken and
        P(taken | recommended) is uniform, too. It then learns from both arms and takes no protocol; a patient
        who took none of the arms teaches it nothing.
    protocol
        Which arm is credited with a reward: "chosen", "actual", "comply" or a credit table.

    Notes
    -----
    Exact dynamic programming over the counts of successes and failures, from the last patient to the first. Computed
    once for each horizon and then kept on disk: 500 patients take about 20 seconds, 0.8 GB of memory and 330 MB of
    disk; 80 patients under "uniform-other" 10 seconds, 0.7 GB and 110 MB.

    Where both arms are worth the same, up to 10⁻¹⁰ rewards, one is drawn with probability ½. The next arm depends on
    what is known: with reports pending it is the one in the table at the counts so far, and after T rewards the one
    with the larger posterior mean. A reward strictly between 0 and 1 becomes a Bernoulli draw. `optimal_surplus`
    gives the value.

    References
    ----------
    Bradt, Johnson & Karlin (1956), "On sequential designs for maximizing the sum of n observations"; Berry & Fristedt
    (1985), "Bandit problems".

    Examples
    --------
    >>> str(BayesOptimal(horizon=12, protocol="actual"))
    'bayes-optimal(horizon=12)/actual'
    >>> str(BayesOptimal(prior="uniform-other").resolved(n_arms=2, horizon=12))
    'bayes-optimal(horizon=12, prior=uniform-other)'
    >>> from adhere import simulate
    >>> result = simulate("bayes-optimal", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    49.5

    """

    rule_fields: ClassVar[tuple[str, ...]] = ("n_arms", "credit", "decisions")
    horizon: int = horizon_parameter(UNIFORM)
    prior: str = choice(default=UNIFORM, options=(UNIFORM, UNIFORM_OTHER))

    def __new__(cls, *values: object, **named: object) -> Any:
        """The learner of both arms where the prior asks for it."""
        given: dict[str, Any] = dict(zip(parameters_of(cls), values, strict=False)) | named
        if given.get("prior") != UNIFORM_OTHER:
            return super().__new__(cls, *values, **named)
        if "protocol" in given:
            expected = "no protocol: it is told both arms and credits what it likes"
            raise InputError("policy bayes-optimal(prior=uniform-other)", given["protocol"], expected)
        return BayesOptimalOfBothArms(**given)

    def _tables(self, shape: TrialShape) -> tuple[Any, ...]:
        _check_two_arms(shape)
        return *super()._tables(shape), decisions_for(UNIFORM, self.horizon)


@inline
def drawn(decision: Any, rng: Stream) -> int:
    """The arm decided on, or one of two that tie."""
    if decision == TIE:
        decision = SECOND if uniform(rng) < 0.5 else FIRST
    return guessed(SECOND if decision == SECOND else FIRST)  # type: ignore[no-any-return]


@inline
def state_probabilities(decision: Any, out: Floats) -> None:
    """Those that `drawn` draws with."""
    out[1] = 0.5 if decision == TIE else float(decision)
    out[0] = 1.0 - out[1]


@implements(choose, BayesOptimal)
def choose_bayes_optimal(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """The arm in the table."""
    return drawn(best_arm(rule, state), rng)


@implements(learn, BayesOptimal)
def learn_bayes_optimal(
    rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream
) -> None:
    """Count a success or a failure."""
    if draw_success(reward, rng):
        state.successes[arm] += 1.0
    else:
        state.failures[arm] += 1.0


@implements(probabilities, BayesOptimal)
def probabilities_bayes_optimal(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Certain, but for ties."""
    state_probabilities(best_arm(rule, state), out)


@implements(choose, BayesOptimalOfBothArms)
def choose_of_both_arms(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """The recommendation in the table."""
    return drawn(best_recommendation(rule, state), rng)


@implements(learn, BayesOptimalOfBothArms)
def learn_of_both_arms(
    rule: Rule, state: State, memo: Memo, chosen: int, actual: int, reward: float, weight: float, rng: Stream
) -> None:
    """Count what was taken, and a success."""
    if actual >= 0:
        if chosen == FIRST:
            state.after_first[actual] += 1.0
        else:
            state.after_second[actual] += 1.0
        if draw_success(reward, rng):
            state.successes[actual] += 1.0


@implements(probabilities, BayesOptimalOfBothArms)
def probabilities_of_both_arms(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Certain, but for ties."""
    state_probabilities(best_recommendation(rule, state), out)
