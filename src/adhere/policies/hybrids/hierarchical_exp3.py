"""Hierarchical EXP3, as given in the paper's appendix (Algorithm 4)."""

import math
from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import Index, Matrix, Memo, State, Vector, implements, laid_out
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import (
    Floats,
    Rule,
    choose,
    component,
    probabilities,
    remember,
    remember_guarded,
    update,
)
from adhere.policies.base.parameters import parameter
from adhere.policies.base.policy import AnyLearner, CompiledPolicy, Policy, TrialShape
from adhere.policies.learners.exp3 import Exp3
from adhere.policies.numerics.exponential_weights import guarded_probability, lower_weight, normalise
from adhere.policies.numerics.selection import draw_from
from adhere.protocols import ACTUAL, CHOSEN, COMPLY, feedback_table
from adhere.randomness import Stream

_PROTOCOLS = (CHOSEN, ACTUAL, COMPLY)
N_EXPERTS = len(_PROTOCOLS)


def rate(n: int, horizon: int) -> float:
    """Return the learning rate for n weights in the usual bound on EXP3's regret."""
    return math.sqrt(2.0 * math.log(n) / (n * horizon))


class HierarchicalExp3State(State):
    """Logarithms of the weights."""

    log_v = Vector(lambda rule: N_EXPERTS)
    log_w = Matrix(rows=lambda rule: N_EXPERTS, columns=lambda rule: rule.n_arms)


class HierarchicalExp3Memo(Memo):
    """The drawn expert, and the probabilities x and y at the decision."""

    drawn = Index()
    x = Vector(lambda rule: N_EXPERTS)
    y = Matrix(rows=lambda rule: N_EXPERTS, columns=lambda rule: rule.n_arms)


@laid_out(state=HierarchicalExp3State, memo=HierarchicalExp3Memo)
class HierarchicalExp3Rule(NamedTuple):
    """The compiled form of `HierarchicalExp3`."""

    eta: float
    rho: float
    n_arms: int
    credit: Any  # by expert, chosen arm and feedback
    certified: bool


@policy("hierarchical-exp3", rule=HierarchicalExp3Rule)
class HierarchicalExp3(Policy):
    """Keep exponential weights v over three experts, and weights w_i of each expert i over the arms.

        v_i ← v_i · exp(-η ℓ / x_i),    w_ij ← w_ij · exp(-ρ ℓ / (x_i y_ij)),    ℓ = 1 - r

    Here x and y_i are the normalised v and w_i. Only the weights of the drawn expert i change, and there is no
    additional exploration. The experts are under Chosen, Actual and Comply, and j is the arm that the drawn expert's
    protocol credits.

    Parameters
    ----------
    eta : float, optional
        Learning rate η of the experts, above 0. The default is √(2 ln 3 / (3T)) for a trial of T patients.
    rho : float, optional
        Learning rate ρ of the arms, above 0. The default is √(2 ln k / (kT)).

    See Also
    --------
    HierarchicalBandit : A hierarchy of any learners.
    hierarchical_hedge : The same with the losses of all arms.
    Exp3 : Exponential weights over arms.

    Notes
    -----
    This is not the same as `hierarchical(exp3)`, which is Algorithm 1. The paper does not specify η and ρ. The
    default rates are those of the usual bound on EXP3's regret (Bubeck & Cesa-Bianchi, 2012, Theorem 3.1).

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 4.

    Examples
    --------
    >>> str(HierarchicalExp3(eta=0.01, rho=0.02))
    'hierarchical-exp3(eta=0.01, rho=0.02)'
    >>> from adhere import simulate
    >>> result = simulate("hierarchical-exp3", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> result[0].resolved
    'hierarchical-exp3(eta=0.08558..., rho=0.08325...)'

    """

    eta: float | None = parameter(
        default=None,
        above=0,
        from_horizon=lambda _, horizon: rate(N_EXPERTS, horizon),
        symbol="hierarchical EXP3's η",
    )
    rho: float | None = parameter(default=None, above=0, from_horizon=rate, symbol="hierarchical EXP3's ρ")

    def learners(self) -> tuple[AnyLearner, ...]:
        """Return three instances of EXP3, whose weights are part of this policy's own state."""
        return tuple(Exp3(protocol=protocol) for protocol in _PROTOCOLS)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the compiled form: the rates, and the experts' feedback tables."""
        credit = np.stack([feedback_table(protocol, shape.n_arms) for protocol in _PROTOCOLS])
        assert self.eta is not None and self.rho is not None  # noqa: PT018  (resolved)
        rule = HierarchicalExp3Rule(self.eta, self.rho, shape.n_arms, credit, certified)
        return CompiledPolicy(rule, tuple(f"exp3/{protocol}" for protocol in _PROTOCOLS))


@implements(remember, HierarchicalExp3)
def remember_hierarchical_exp3(rule: Rule, state: State, memo: Memo) -> None:
    """Store the probabilities x of the experts, and y_i of the arms under each expert i."""
    memo.drawn = -1
    normalise(state.log_v, memo.x)
    for i in range(N_EXPERTS):
        normalise(state.log_w[i], memo.y[i])


@implements(remember_guarded, HierarchicalExp3)
def remember_guarded_hierarchical_exp3(
    rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream
) -> None:
    """Store the probability that each arm really had under a guard, for updates to divide by."""
    for i in range(N_EXPERTS):
        for arm in range(rule.n_arms):
            memo.y[i, arm] = guarded_probability(memo.y[i, arm], shares[arm], kept)


@implements(choose, HierarchicalExp3)
def choose_hierarchical_exp3(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> Any:
    """Draw an expert, then an arm."""
    drawn = draw_from(memo.x, rng)
    memo.drawn = drawn
    return draw_from(memo.y[drawn], rng)


@implements(update, HierarchicalExp3)
def update_hierarchical_exp3(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Update the top with the drawn expert, and that expert with the arm. In uncertified use, update all experts.

    If a guard outside the hierarchy decided, all experts learn, and the top does not.
    """
    drawn, loss = memo.drawn, 1.0 - reward
    if drawn >= 0 and feedback <= rule.n_arms:
        lower_weight(state.log_v, drawn, rule.eta * loss / memo.x[drawn])
    for i in range(N_EXPERTS):
        arm = rule.credit[i, chosen, feedback]
        if arm >= 0 and loss > 0.0 and (i == drawn or drawn < 0 or not rule.certified):
            x = memo.x[i] if rule.certified and i == drawn else 1.0
            # A negative sign means that a guard left the arm no probability (`guarded_probability`).
            lower_weight(state.log_w[i], arm, rule.rho * loss / (x * abs(memo.y[i, arm])))


@implements(probabilities, HierarchicalExp3)
def probabilities_hierarchical_exp3(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Write the probability Σ_i x_i y_i of each arm."""
    for arm in range(rule.n_arms):
        out[arm] = 0.0
    for i in range(N_EXPERTS):
        for arm in range(rule.n_arms):
            out[arm] += memo.x[i] * memo.y[i, arm]


@implements(component, HierarchicalExp3)
def component_hierarchical_exp3(rule: Rule, memo: Memo) -> int:
    """Return the drawn expert."""
    return memo.drawn  # type: ignore[no-any-return]
