"""One trial in memory: recommend now, hear back in any order, in parts, any time later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adhere.compilation import classes_of
from adhere.errors import InputError, nearest
from adhere.policies import as_policy
from adhere.policies.policy import Setting
from adhere.policies.recycling import CacheRule
from adhere.randomness import check_seed, stream
from adhere.trial.steps import DECIDE, TAKE_LESSON, chances


@dataclass(frozen=True)
class Recommendation:
    """An arm for the next patient, with all that is needed to explain and to learn from it later.

    `probabilities` are those of each arm when it was drawn, exact unless `estimated`; `memo` is what the policy
    must remember until feedback comes.
    """

    id: int
    arm: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    estimated: bool = False


@dataclass
class _Pending:
    """What is known so far of one recommendation."""

    chosen: int
    memo: Any
    actual: int | None = None
    reward: float | None = None


class Trial:
    """A policy at work on one trial.

    Chosen-protocol learners and the top of a hierarchy learn as soon as the reward is in, the others when the
    actual arm is in too, each exactly once. The same compiled functions as in `simulate`: a trial with the same
    seed and `run=r`, fed the same patients in order, picks the arms of run r.

    Parameters
    ----------
    policy
        A policy or its text.
    arms
        Their names, at least two.
    seed, run
        What everything random follows from.
    horizon
        The planned number of patients, for policies that need it (EXP3 without γ).
    reward_values
        Every reward that can occur, needed by policies that recycle outcomes: they count them by value.

    >>> trial = Trial("thompson/actual", arms=["walk", "aspirin"], seed=1)
    >>> recommendation = trial.recommend()
    >>> trial.report(recommendation.id, reward=1)
    >>> trial.report(recommendation.id, actual="aspirin")
    >>> trial.recommend().probabilities["aspirin"].__round__(4)
    0.6667

    """

    def __init__(
        self,
        policy: object,
        arms: Sequence[str],
        seed: int = 0,
        horizon: int | None = None,
        *,
        run: int = 0,
        reward_values: Sequence[float] = (0.0, 1.0),
    ) -> None:
        self.arms = _checked_arms(arms)
        if horizon is not None and (not _is_whole(horizon) or horizon < 1):
            raise InputError("horizon", horizon, "a whole number of patients, at least 1")
        if not _is_whole(run) or run < 0:
            raise InputError("run", run, "a whole number, at least 0")
        if not isinstance(reward_values, Sequence) or not reward_values:
            raise InputError("reward_values", reward_values, "every reward that can occur, e.g. (0, 0.5, 1)")
        values = tuple(sorted({_checked_reward(value) for value in reward_values}))
        self.policy = as_policy(policy).resolved(len(self.arms), horizon)
        assembled = self.policy.assemble(Setting(len(self.arms), values))
        self._rule, self._state = assembled.rule, assembled.state.copy()
        self._memo_size, self._spare_size = assembled.memo_size, assembled.spare_size
        self._values = values if _recycles(assembled.rule) else None
        self._rng = stream(check_seed(seed), run)
        self._pending: dict[int, _Pending] = {}
        self._finished: dict[int, tuple[int, float]] = {}
        self._decisions = 0
        self._decide: Any = None
        self._take_lesson: Any = None

    def recommend(self) -> Recommendation:
        """An arm for the next patient."""
        memo, before = np.zeros(self._memo_size + self._spare_size), self._state.copy()
        arguments = (self._rule, self._state, memo, self._rng, self._decisions)
        if self._decide is None:
            self._decide = DECIDE.compiled(*arguments)
        chosen = int(self._decide(*arguments))
        if not 0 <= chosen < len(self.arms):
            self._state[:] = before
            raise InputError(f"arm chosen by {self.policy}", chosen, f"a number from 0 to {len(self.arms) - 1}")
        probabilities = chances(self._rule, before, memo, self._rng, self._decisions)
        identity = self._decisions
        self._decisions += 1
        self._pending[identity] = _Pending(chosen, memo)
        return Recommendation(
            id=identity,
            arm=self.arms[chosen],
            probabilities=dict(zip(self.arms, probabilities, strict=True)),
            memo=tuple(memo[: self._memo_size].tolist()),
            estimated=self.policy.estimates_probabilities,
        )

    def report(self, id: int, *, actual: str | None = None, reward: float | None = None) -> None:  # noqa: A002
        """Say which arm was actually taken, what came of it, or both. The same report twice changes nothing."""
        if actual is None and reward is None:
            raise InputError("report", None, "actual=…, reward=… or both")
        arm = None if actual is None else self._arm(actual)
        value = None if reward is None else self._reward(reward)
        if not _is_whole(id):
            raise InputError("id", id, "the id of a recommendation of this trial")
        if id in self._finished:
            self._same_again(id, *self._finished[id], arm, value)
            return
        if id not in self._pending:
            raise InputError("id", id, "the id of a recommendation of this trial")
        known = self._pending[id]
        self._same_again(id, known.actual, known.reward, arm, value)
        had_reward = known.reward is not None
        known.actual = arm if known.actual is None else known.actual
        known.reward = value if known.reward is None else known.reward
        if known.reward is None:
            return
        n_arms = len(self.arms)
        if known.actual is None:
            if not had_reward:
                self._learn(id, known, feedback=n_arms)
            return
        self._learn(id, known, feedback=n_arms + 1 + known.actual if had_reward else known.actual)
        self._finished[id] = (known.actual, known.reward)
        del self._pending[id]

    @property
    def state(self) -> tuple[float, ...]:
        """What the policy has learned so far, as plain numbers."""
        return tuple(self._state.tolist())

    def _learn(self, id: int, known: _Pending, feedback: int) -> None:  # noqa: A002
        arguments = (self._rule, self._state, known.memo, self._rng, id, known.chosen, feedback, known.reward)
        if self._take_lesson is None:
            self._take_lesson = TAKE_LESSON.compiled(*arguments)
        self._take_lesson(*arguments)

    def _arm(self, name: object) -> int:
        if name not in self.arms:
            raise InputError("actual", name, nearest(str(name), self.arms))
        return self.arms.index(str(name))

    def _reward(self, value: object) -> float:
        reward = _checked_reward(value)
        if self._values is not None and reward not in self._values:
            listed = ", ".join(f"{known:g}" for known in self._values)
            expected = f"one of {listed}: a policy that recycles must know every value (reward_values=…)"
            raise InputError("reward", value, expected)
        return reward

    def _same_again(
        self,
        identity: int,
        known_arm: int | None,
        known_reward: float | None,
        arm: int | None,
        reward: float | None,
    ) -> None:
        if arm is not None and known_arm is not None and arm != known_arm:
            expected = f"{self.arms[known_arm]!r}, as reported before for recommendation {identity}"
            raise InputError("actual", self.arms[arm], expected)
        if reward is not None and known_reward is not None and reward != known_reward:
            raise InputError("reward", reward, f"{known_reward:g}, as reported before for recommendation {identity}")


def _checked_arms(arms: Sequence[str]) -> tuple[str, ...]:
    if isinstance(arms, str) or not isinstance(arms, Sequence) or len(arms) < 2:
        raise InputError("arms", arms, "the names of at least two arms")
    for arm in arms:
        if not isinstance(arm, str) or not arm.strip() or list(arms).count(arm) > 1:
            raise InputError("arms", arm, "different names in text, none of them empty")
    return tuple(arms)


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked_reward(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError("reward", value, "a number from 0 to 1")
    if not 0.0 <= value <= 1.0:
        raise InputError("reward", value, "a number from 0 to 1")
    return float(value)


def _recycles(rule: Any) -> bool:
    return CacheRule in classes_of(rule)
