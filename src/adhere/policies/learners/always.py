"""The same arm for every patient, as a baseline."""

from typing import Any

import numpy as np

from adhere.compilation import Memo, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner, learn_nothing
from adhere.policies.base.parameters import arm_parameter
from adhere.randomness import Stream


@policy("always")
class Always(Learner):
    """Recommend the same arm to every patient.

    Parameters
    ----------
    arm : str or int
        Name of the arm, or its number from 0 if no name of an arm is a number. In the text of a policy, a name that
        contains a comma or a bracket needs quotation marks.
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward. It has no effect, because the policy learns nothing.

    See Also
    --------
    Uniform : Recommend every arm with the same probability.

    Notes
    -----
    Case and blanks in names are ignored, unless two arms differ only in them. If the name of any arm is a number, as
    with doses, a number is always a name and never an index. A number in quotation marks is always a name.

    Examples
    --------
    >>> str(Always("treatment"))
    'always(treatment)'
    >>> from adhere import simulate
    >>> policies = ["always(control)", "always(treatment)"]
    >>> result = simulate(policies, "rich-and-poor", n_patients=100, n_runs=20, progress=False)
    >>> [round(outcome.surplus.mean, 2) for outcome in result]
    [6.25, -6.25]

    """

    arm: str | int = arm_parameter()


@implements(choose, Always)
def choose_always(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> Any:
    """Return the declared arm."""
    return np.int64(rule.arm)


implements(learn, Always)(learn_nothing)


@implements(probabilities, Always)
def probabilities_always(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write 1 for the declared arm and 0 for the others."""
    for other in range(rule.n_arms):
        out[other] = 1.0 if other == np.int64(rule.arm) else 0.0
