"""Tables of `bayes-optimal` and `bayes-optimal-aware` by prior and horizon, and the expected surplus of their
policies.
"""

from typing import Any, Final

import numpy as np

from adhere.checks import check_integer
from adhere.errors import InputError, nearest
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables import optimum_by_compliance as compliance_counts
from adhere.policies.tables import optimum_by_outcome as two_arm_counts
from adhere.policies.tables.dynamic_programming import Bytes, solve, table_size, value_in, working_bytes
from adhere.policies.tables.table_cache import KeptTable

UNIFORM, UNIFORM_OTHER = "uniform", "uniform-other"
MAX_HORIZON: Final = {UNIFORM: 500, UNIFORM_OTHER: 80}
_COUNTS: Final[dict[str, Any]] = {UNIFORM: two_arm_counts, UNIFORM_OTHER: compliance_counts}


def check_two_arms(name: str, shape: TrialShape) -> None:
    """Refuse a trial that does not have two arms."""
    if shape.n_arms != 2:
        raise InputError(f"policy {name}", f"{shape.n_arms} arms", "two arms")


def decisions_for(prior: str, horizon: int) -> Bytes:
    """Return the best decision in every state, computed once and then stored on disk."""
    starts_of, decide = _COUNTS[prior].starts_of, _COUNTS[prior].DECIDE
    table = KeptTable(
        f"bayes-optimal-{prior}",
        numbers=(horizon,),
        version=1,
        title=f"the optimal decisions for {horizon} patient{'s' if horizon > 1 else ''}",
        shape=(table_size(horizon, starts_of),),
        dtype=np.uint8,
        working_bytes=working_bytes(horizon, starts_of),
        compute=lambda: solve(horizon, starts_of, decide),
    )
    return table.array()


def optimal_surplus(horizon: int, prior: str = UNIFORM) -> float:
    """Compute the largest expected surplus that any policy can have in a trial, on average over a prior.

    Parameters
    ----------
    horizon : int
        Number of patients.
    prior : {"uniform", "uniform-other"}, default "uniform"
        Distribution of populations. With "uniform", everybody takes the arm recommended, and each of two arms has a
        success rate drawn from [0, 1]. "uniform-other" is the population of that name, for policies that see the arm
        taken.

    Returns
    -------
    float
        Expected reward above uniform randomisation, summed over patients.

    See Also
    --------
    BayesOptimal : The policy that has this surplus.
    BayesOptimalAware : The policy that has it under "uniform-other".

    Examples
    --------
    The surplus of a policy, as a fraction of the optimum:

    >>> from adhere import simulate
    >>> best = optimal_surplus(12, "uniform-other")
    >>> round(best, 4)
    0.3156
    >>> thompson = simulate("thompson", "uniform-other", n_patients=12, n_runs=10_000, progress=False)[0]
    >>> f"{thompson.surplus.mean / best:.0%}"
    '5...%'

    """
    if prior not in MAX_HORIZON:
        raise InputError("prior", prior, nearest(str(prior), MAX_HORIZON))
    planned = check_integer("horizon", horizon, 1, MAX_HORIZON[prior])
    return value_in(decisions_for(prior, planned)) - planned / 2
