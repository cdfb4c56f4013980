"""A policy at work: what it recommends from a state, and what becomes of the state. It holds no state itself."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import classes_of
from adhere.errors import InputError
from adhere.policies import as_policy
from adhere.policies.policy import Policy, Setting, registry
from adhere.policies.recycling import CacheRule
from adhere.randomness import FALLBACK, STREAM_VERSION, check_seed, stream, uniforms
from adhere.trial.checks import checked_reward, is_whole
from adhere.trial.steps import DECIDE, DECIDE_AGAIN, TAKE_LESSON, chances

Floats = NDArray[np.float64]
_SLACK = 1e-6  # by how much probabilities may miss 1 together

log = logging.getLogger("adhere.trial")


class Decision(NamedTuple):
    """An arm, the chance each arm had, what learning must remember, and the state afterwards.

    `fallback` says why the arm was drawn with equal chances instead; the policy never learns of such a round.
    """

    chosen: int
    probabilities: tuple[float, ...]
    memo: tuple[float, ...]
    state: Floats
    fallback: str = ""


class Engine:
    """The compiled steps of one policy for one trial.

    States are values: no method changes the one it is given.
    """

    def __init__(
        self,
        policy: object,
        n_arms: int,
        *,
        seed: int,
        run: int = 0,
        horizon: int | None = None,
        reward_values: Sequence[float] = (0.0, 1.0),
    ) -> None:
        if horizon is not None and (not is_whole(horizon) or horizon < 1):
            raise InputError("horizon", horizon, "a whole number of patients, at least 1")
        if not is_whole(run) or run < 0:
            raise InputError("run", run, "a whole number, at least 0")
        if not isinstance(reward_values, Sequence) or not reward_values:
            raise InputError("reward_values", reward_values, "every reward that can occur, e.g. (0, 0.5, 1)")
        values = tuple(sorted({checked_reward(value) for value in reward_values}))
        self.n_arms = n_arms
        self.policy: Policy = as_policy(policy).resolved(n_arms, horizon)
        assembled = self.policy.assemble(Setting(n_arms, values))
        self.estimated = self.policy.estimates_probabilities  # only now is it known of a user's policy
        self.first_state: Floats = assembled.state
        self.memo_size = assembled.memo_size
        self._rule, self._spare_size = assembled.rule, assembled.spare_size
        self._recycles = CacheRule in classes_of(assembled.rule)
        self._values = values if self._recycles else None
        self._rng = stream(check_seed(seed), run)
        self._steps: dict[Any, Any] = {}
        # By which version of which rules a random key becomes an arm.
        self.law = _law_of(self.policy, self._rule)
        # The random key all decisions are drawn by; a decision's number says where in its stream.
        self.key = f"{int(self._rng[0]):016x}{int(self._rng[1]):016x}"

    @property
    def is_loaded(self) -> bool:
        """Whether the compiled steps of a decision and a lesson are in memory."""
        return DECIDE in self._steps and TAKE_LESSON in self._steps

    def decide(self, state: Floats, decision: int) -> Decision:
        """Choose an arm; raises whatever the policy raises, and `InputError` if what it says makes no sense."""
        memo, after = self._room_for(()), state.copy()
        chosen = int(self._run(DECIDE, after, memo, self._rng, decision))
        if not 0 <= chosen < self.n_arms:
            raise InputError(f"arm chosen by {self.policy}", chosen, f"a number from 0 to {self.n_arms - 1}")
        if not self._recycles and after.tobytes() != state.tobytes():
            raise InputError(f"policy {self.policy}", "a choose that changes the state", "only learn to change it")
        probabilities = chances(self._rule, state.copy(), memo, self._rng, decision)
        if not abs(sum(probabilities) - 1.0) <= _SLACK:  # a NaN among them is caught too
            raise InputError(f"probabilities of {self.policy}", probabilities, "numbers from 0 to 1 that add up to 1")
        remembered = tuple(memo[: self.memo_size].tolist())
        if not all(map(math.isfinite, remembered)):
            raise InputError(f"memo of {self.policy}", remembered, "finite numbers")
        return Decision(chosen, tuple(probabilities), remembered, after)

    def decide_or_fall_back(self, state: Floats, decision: int) -> Decision:
        """As `decide`; if the policy fails, an arm drawn with equal chances, and why."""
        try:
            return self.decide(state, decision)
        except Exception as error:
            log.warning("the policy failed at a recommendation; arms have equal chances", exc_info=True)
            return self.fall_back(state, decision, f"{type(error).__name__}: {error}"[:300])

    def fall_back(self, state: Floats, decision: int, why: str) -> Decision:
        """An arm drawn with equal chances."""
        point = uniforms(self._rng[None, :2], np.array([decision]), FALLBACK)[0, 0]
        equal = (1.0 / self.n_arms,) * self.n_arms
        return Decision(int(point * self.n_arms), equal, (), state, why)

    def decide_again(self, state: Floats, decision: int, memo: Sequence[float]) -> Floats:
        """The state after a decision whose memo is known; nothing is drawn."""
        if not self._recycles or len(memo) < self.memo_size:
            return state
        after = state.copy()
        self._run(DECIDE_AGAIN, after, self._room_for(memo), self._rng, decision)
        return after

    def probabilities(self, state: Floats, decision: int, memo: Sequence[float]) -> list[float]:
        """The chance of each arm at a decision, from the state before it and its memo."""
        return chances(self._rule, state.copy(), self._room_for(memo), self._rng, decision)

    def learn(
        self, state: Floats, decision: int, memo: Sequence[float], chosen: int, feedback: int, reward: float
    ) -> Floats:
        """The state after a lesson. A lesson at which the policy fails teaches nothing, whenever it is repeated."""
        after = state.copy()
        arguments = (self._room_for(memo), self._rng, decision, chosen, feedback, reward)
        try:
            self._run(TAKE_LESSON, after, *arguments)
        except Exception:
            log.warning("the policy failed at a lesson, which is left out", exc_info=True)
            return state
        return after

    def check_reward(self, value: object) -> float:
        """A reward this policy can learn from."""
        reward = checked_reward(value)
        if self._values is not None and reward not in self._values:
            listed = ", ".join(f"{known:g}" for known in self._values)
            expected = f"one of {listed}: a policy that recycles must know every value (reward_values=…)"
            raise InputError("reward", value, expected)
        return reward

    def _run(self, kernel: Any, *arguments: Any) -> Any:
        if kernel not in self._steps:  # looking up a kernel by the types of its arguments takes longer than its run
            self._steps[kernel] = kernel.compiled(self._rule, *arguments)
        return self._steps[kernel](self._rule, *arguments)

    def _room_for(self, memo: Sequence[float]) -> Floats:
        room = np.zeros(self.memo_size + self._spare_size)
        if memo:
            room[: self.memo_size] = memo
        return room


def _law_of(policy: Policy, rule: Any) -> str:
    # A hybrid may use learners that its text does not name.
    classes = classes_of(rule)
    versions = {name: cls.law for name, cls in registry.items() if getattr(cls, "rule_class", None) in classes}
    versions |= {part.name: part.law for part in policy.parts()}
    return " ".join([*(f"{name}:{versions[name]}" for name in sorted(versions)), f"randomness:{STREAM_VERSION}"])
