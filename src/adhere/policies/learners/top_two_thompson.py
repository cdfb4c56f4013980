"""Top-two Thompson sampling: it aims to find the best arm rather than to earn rewards while it searches."""

from adhere.compilation import Memo, State, Vector, by_number_of_arms, implements, inline, no_inline, view
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.parameters import parameter
from adhere.policies.learners.thompson import learn_thompson
from adhere.policies.numerics.beta import probabilities_of_being_largest, work_size
from adhere.policies.numerics.beta_inequality import MIN_P
from adhere.policies.numerics.beta_posterior import BetaPosterior, draw_best, draw_each, probabilities_of_best
from adhere.randomness import Stream, uniform

# After this many redraws, quadrature is faster.
MAX_REDRAWS = 100


class TopTwoMemo(Memo):
    """Workspace for the probability that each arm is the best."""

    of_best = Vector(lambda rule: rule.n_arms + work_size(rule.n_arms), scratch=True)


@policy("top-two-thompson", state=BetaPosterior, memo=TopTwoMemo)
class TopTwoThompson(Learner):
    """Draw a leader by Thompson sampling; with probability 1 - β, draw again until another arm leads.

    If α_j is the posterior probability that arm j is the best, arm j is recommended with probability

        α_j · (β + (1 - β) · Σ_{i≠j} α_i / (1 - α_i)).

    Thompson sampling eventually recommends the best arm to nearly everybody, and learns little about the others. This
    policy recommends it only to a share β of patients. It aims to find the best arm, not to gain rewards meanwhile.

    Parameters
    ----------
    beta : float, default 0.5
        Probability β of recommending the leader, above 0 and at most 1. With β = 1, this is Thompson sampling.
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    Thompson : Recommend the leader always.

    Notes
    -----
    The posterior is that of `thompson`, with uniform priors, and a reward between 0 and 1 becomes a Bernoulli draw.
    With two arms the challenger is always the other arm. With β = 1/2 each arm then always has probability 1/2.

    If 100 redraws find no other leader, the challenger is drawn with its posterior probability, which gives the same
    distribution. An α_j below 10⁻¹² is only rounding noise and is replaced by 10⁻¹², as in `thompson`.

    References
    ----------
    Russo (2016), "Simple Bayesian algorithms for best arm identification", section 3.2.

    Examples
    --------
    >>> str(TopTwoThompson(beta=0.7))
    'top-two-thompson(beta=0.7)'
    >>> from adhere import simulate
    >>> result = simulate("top-two-thompson(beta=0.7)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    18.6

    """

    beta: float = parameter(default=0.5, above=0, at_most=1)


@no_inline
def draw_challenger(rule: Rule, state: State, of_best: Floats, leader: int, rng: Stream) -> int:
    """Draw an arm other than the leader, in proportion to its probability of being the best."""
    probabilities_of_being_largest(state.successes, state.failures, 0.0, of_best)
    total = 0.0
    for arm in range(rule.n_arms):
        of_best[arm] = 0.0 if arm == leader else max(of_best[arm], MIN_P)
        total += of_best[arm]
    u, drawn = uniform(rng) * total, leader
    for arm in range(rule.n_arms):
        if arm != leader and u >= 0.0:
            u -= of_best[arm]
            drawn = arm
    return drawn


@inline
def draw_until_another(rule: Rule, state: State, memo: Memo, leader: int, rng: Stream) -> int:
    """Draw again until another arm than the leader has the largest θ, and return it."""
    for _ in range(MAX_REDRAWS):
        arm = draw_each(rule, state, rng)
        if arm != leader:
            return arm
    return draw_challenger(rule, state, memo.of_best, leader, rng)


@inline
def other_arm(rule: Rule, state: State, memo: Memo, leader: int, rng: Stream) -> int:
    """Return the challenger if there are two arms: the other arm."""
    return 1 - leader


challenger = by_number_of_arms(other_arm, draw_until_another)


@implements(choose, TopTwoThompson)
def choose_top_two(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Return the leader with probability β, otherwise the challenger."""
    leader = draw_best(rule, state, rng)
    if uniform(rng) < rule.beta:
        return leader
    return challenger(rule, state, memo, leader, rng)


implements(learn, TopTwoThompson)(learn_thompson)


@implements(probabilities, TopTwoThompson)
def probabilities_top_two(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the probabilities of the class's formula, from those of `thompson`."""
    n_arms, total = rule.n_arms, 0.0
    probabilities_of_best(rule, state, out)
    of_best = view(out, n_arms)
    for arm in range(n_arms):
        of_best[arm] = max(out[arm], MIN_P)
        total += of_best[arm]
    for arm in range(n_arms):
        out[arm] = rule.beta * of_best[arm] / total
    for leader in range(n_arms):
        others = 0.0  # summed, since 1 - α could be rounded to 0
        for arm in range(n_arms):
            others += 0.0 if arm == leader else of_best[arm]
        for arm in range(n_arms):
            if arm != leader:
                out[arm] += (1.0 - rule.beta) * (of_best[leader] / total) * (of_best[arm] / others)
