"""A policy for the arms, patients and rewards of one trial: resolved, checked and assembled, but not yet compiled."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from adhere.checks import check_reward, is_integer
from adhere.compilation import classes_of
from adhere.errors import InputError, listed
from adhere.policies import as_policy
from adhere.policies.base.policy import Policy, TrialShape
from adhere.policies.hybrids.recycling import CacheRule
from adhere.policies.tables.table_cache import postponing


class PolicyInTrial:
    """The policy of one trial. An `InputError` names the field for which the policy cannot be assembled.

    `arms` contains the names of the arms, or is their number.
    """

    def __init__(
        self,
        policy: object,
        arms: int | Sequence[str],
        *,
        n_patients: int | None = None,
        reward_values: Sequence[float] = (0.0, 1.0),
        lower_is_better: bool = False,
    ) -> None:
        if n_patients is not None and (not is_integer(n_patients) or n_patients < 1):
            raise InputError("n_patients", n_patients, "a whole number of patients, at least 1")
        if not isinstance(reward_values, Sequence) or not reward_values:
            raise InputError("reward_values", reward_values, "every reward that can occur, e.g. (0, 0.5, 1)")
        self._lower_is_better = lower_is_better
        reported = {check_reward("reward", value) for value in reward_values}
        values = tuple(sorted(map(self.benefit, reported)))
        shape = TrialShape.of(arms, values)
        self.n_arms = shape.n_arms
        self.policy: Policy = as_policy(policy).resolved(shape.n_arms, n_patients)
        self._assemble = partial(self.policy.assemble, shape)
        with postponing() as later:
            self._compiled = self._assemble()
        self._lacks_tables = bool(later)  # until the steps are loaded
        self.first_state: NDArray[np.float64] = self._compiled.state
        self.memo_size = self._compiled.memo_size
        self.recycles = CacheRule in classes_of(self._compiled.rule)
        self._reported = sorted(reported) if self.recycles else None

    def benefit(self, reward: float) -> float:
        """Return the reward that the policy learns from: the reported reward, or 1 minus it if lower is better."""
        return 1.0 - reward if self._lower_is_better else reward

    def check_reward(self, value: object) -> float:
        """Check a reported reward and return it, if this policy can learn from it."""
        reward = check_reward("reward", value)
        if self._reported is not None and reward not in self._reported:
            values = listed(f"{known:g}" for known in self._reported)
            expected = f"one of {values}: a policy that recycles must know every value (reward_values=…)"
            raise InputError("reward", value, expected)
        return reward
