"""A policy in one trial: what it chooses from a state, and the state after a stretch of lessons."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from adhere.checks import check_reward, is_integer
from adhere.compilation import classes_of
from adhere.errors import CompileError, InputError, UnavailableError, listed
from adhere.policies import ComplianceAwareLearner, as_policy
from adhere.policies.generic import decider, probabilities, remember
from adhere.policies.kept_tables import postponing
from adhere.policies.policy import Policy, TrialShape
from adhere.policies.recycling import CacheRule
from adhere.randomness import (
    ESTIMATE,
    FALLBACK,
    check_seed,
    point,
    stream,
    uniforms,
)
from adhere.trial.algorithm_version import algorithm_version
from adhere.trial.buffers import Buffers
from adhere.trial.failures import OF_THE_MACHINE, reason_of, unavailable
from adhere.trial.lessons import LessonArrays, Row
from adhere.trial.steps import ALLOCATE_ARM, CHOOSE_ARM, LEARN_LESSONS

Floats = NDArray[np.float64]
_SUM_TOLERANCE = 1e-6

log = logging.getLogger("adhere.trial")


class Choice(NamedTuple):
    """An arm, the probability each arm had, and what learning must remember.

    `fallback` is why the arm was drawn with equal probabilities instead; the policy does not learn from such a round.
    With `prescribed` the arm was drawn by the probabilities themselves, which are then exact.
    """

    chosen: int
    probabilities: tuple[float, ...]
    memo: tuple[float, ...]
    fallback: str = ""
    prescribed: bool = False


class Learned(msgspec.Struct, frozen=True, gc=False):
    """A policy's state after some lessons; the index of each lesson that it refused, and why."""

    state: Floats
    refused: Sequence[tuple[int, str]] = ()


class Engine:
    """The compiled steps of one policy for one trial. Threads may share an engine.

    It holds no state of the trial: states are values that are passed in, and no method changes the one it is given.
    """

    def __init__(
        self,
        policy: object,
        n_arms: int,
        *,
        seed: int,
        run: int = 0,
        n_patients: int | None = None,
        reward_values: Sequence[float] = (0.0, 1.0),
    ) -> None:
        if n_patients is not None and (not is_integer(n_patients) or n_patients < 1):
            raise InputError("n_patients", n_patients, "a whole number of patients, at least 1")
        if not is_integer(run) or run < 0:
            raise InputError("run", run, "a whole number, at least 0")
        if not isinstance(reward_values, Sequence) or not reward_values:
            raise InputError("reward_values", reward_values, "every reward that can occur, e.g. (0, 0.5, 1)")
        values = tuple(sorted({check_reward("reward", value) for value in reward_values}))
        self.n_arms = n_arms
        self.policy: Policy = as_policy(policy).resolved(n_arms, n_patients)
        self._assemble = partial(self.policy.assemble, TrialShape(n_arms, values))
        with postponing() as later:
            compiled = self._assemble()
        self._lacks_tables = bool(later)  # until the steps are loaded
        self.sees_both_arms = any(isinstance(one, ComplianceAwareLearner) for one in self.policy.learners())
        self.estimated = self.policy.estimates_probabilities  # for a user's policy this is known only now
        self.first_state: Floats = compiled.state
        self.memo_size = compiled.memo_size
        self._deciders = compiled.deciders
        self.recycles = CacheRule in classes_of(compiled.rule)
        self._rule = compiled.rule
        self._values = values if self.recycles else None
        self._stream = stream(check_seed(seed), run)
        self._buffers = Buffers(compiled, self._stream)
        self._kernels: dict[Any, Any] = {}
        self.is_loaded = False  # whether the compiled steps are in memory
        self._does_not_compile = False
        self.algorithm_version = algorithm_version(self.policy, self._rule)
        # The random key of all recommendations; a recommendation's id is its place in the stream.
        self.key = f"{int(self._stream[0]):016x}{int(self._stream[1]):016x}"

    def load(self) -> None:
        """Compile the steps, or load them from disk, before the first patient would wait for it.

        Raises a `CompileError` if the policy does not compile, an `InputError` if it fails at its first
        recommendation, an `UnavailableError` if the machine is short of something.
        """
        if (failure := self._load()) is not None:
            sentence = f"the policy {self.policy} fails at its first recommendation: {reason_of(failure)}"
            raise InputError("policy", str(self.policy), "a policy that recommends an arm", sentence) from failure

    def _load(self) -> Exception | None:
        """Load the steps; returns what the policy failed with at its first recommendation, if it did."""
        failure = None
        try:
            self._load_steps()
            self.choose(self.first_state, 0)  # which loads what its probabilities need
        except (CompileError, UnavailableError):
            raise
        except OF_THE_MACHINE as error:
            raise unavailable(self.policy, error) from error
        except Exception as error:
            failure = error
        self.is_loaded = True
        return failure

    def ensure_loaded(self) -> None:
        """As `load`, for a trial that is under way: a policy that does not compile here is unavailable."""
        if self.is_loaded:
            return
        if self._does_not_compile:
            raise UnavailableError(f"the policy {self.policy} does not compile on this machine")
        try:
            self._load()  # a policy that fails is reported at each recommendation
        except CompileError as error:
            self._does_not_compile = True
            raise UnavailableError(f"the policy {self.policy} does not compile on this machine") from error

    def choose(self, state: Floats, recommendation_id: int) -> Choice:
        """Choose an arm; raises whatever the policy raises, and `InputError` if its output makes no sense."""
        buffers = self._buffers
        after, memo = buffers.state, buffers.memo
        after[:] = state
        memo.fill(0.0)
        chosen = self._run(CHOOSE_ARM, after, memo, buffers.rng, recommendation_id)
        if not isinstance(chosen, int) or not 0 <= chosen < self.n_arms:
            raise InputError(f"arm chosen by {self.policy}", chosen, f"a whole number from 0 to {self.n_arms - 1}")
        if not self.recycles and after.tobytes() != state.tobytes():
            raise InputError(f"policy {self.policy}", "a choose that changes the state", "only learn to change it")
        remembered = tuple(memo[: self.memo_size].tolist())  # before an estimate draws, and writes, again
        distribution = self._probabilities(state)
        if not abs(sum(distribution) - 1.0) <= _SUM_TOLERANCE:  # also catches a NaN
            raise InputError(f"probabilities of {self.policy}", distribution, "numbers from 0 to 1 that add up to 1")
        if not all(map(math.isfinite, remembered)):
            raise InputError(f"memo of {self.policy}", remembered, "finite numbers")
        return Choice(chosen, tuple(distribution), remembered)

    def allocate(self, state: Floats, recommendation_id: int, shares: Sequence[float]) -> Choice:
        """Draw an arm by shares that the design prescribes; to the policy it is as if a guard had decided."""
        buffers = self._buffers
        buffers.state[:] = state
        buffers.memo.fill(0.0)
        buffers.shares[:] = shares
        chosen = self._run(ALLOCATE_ARM, buffers.state, buffers.memo, buffers.rng, recommendation_id, buffers.shares)
        remembered = tuple(buffers.memo[: self.memo_size].tolist())
        if not all(map(math.isfinite, remembered)):
            raise InputError(f"memo of {self.policy}", remembered, "finite numbers")
        return Choice(int(chosen), tuple(shares), remembered, prescribed=True)

    def stated_probabilities(self, state: Floats, recommendation_id: int) -> list[float]:
        """The probability of each arm at a recommendation that is still to come."""
        buffers = self._buffers
        buffers.state[:] = state
        buffers.memo.fill(0.0)
        remember(self._rule, buffers.named_state, buffers.named_memo)
        point(buffers.rng, recommendation_id, ESTIMATE)
        return self._probabilities(state)

    def beliefs(self, state: Floats, recommendation_id: int) -> list[float]:
        """The probabilities of the learner inside all guards, at a recommendation that is still to come."""
        buffers = self._buffers
        buffers.state[:] = state
        buffers.memo.fill(0.0)
        rule, named_state, named_memo = self._rule, buffers.named_state, buffers.named_memo
        while hasattr(rule, "inner"):
            rule, named_state, named_memo = rule.inner, named_state.inner, named_memo.inner
        remember(rule, named_state, named_memo)
        point(buffers.rng, recommendation_id, ESTIMATE)
        probabilities(rule, named_state, named_memo, 1.0, buffers.out, buffers.rng)
        return [float(p) for p in buffers.out[: self.n_arms]]

    def choose_or_fall_back(
        self,
        state: Floats,
        recommendation_id: int,
        choose: Callable[[], Choice] | None = None,
        left: Sequence[int] | None = None,
    ) -> Choice:
        """As `choose`, or as a function given for it; if the policy fails, one of all arms or of those left."""
        self.ensure_loaded()
        try:
            return self.choose(state, recommendation_id) if choose is None else choose()
        except OF_THE_MACHINE as error:
            raise unavailable(self.policy, error) from error
        except (CompileError, UnavailableError) as error:
            raise UnavailableError(f"the policy {self.policy} cannot be loaded") from error
        except Exception as error:
            log.warning("policy failed to recommend; drawing an arm with equal probabilities", exc_info=True)
            return self.fall_back(recommendation_id, reason_of(error), left)

    def fall_back(self, recommendation_id: int, reason: str, left: Sequence[int] | None = None) -> Choice:
        """An arm drawn with equal probabilities, of all or of those left."""
        arms = range(self.n_arms) if left is None else left
        u = uniforms(self._stream[None, :2], np.array([recommendation_id]), FALLBACK)[0, 0]
        shares = tuple(1.0 / len(arms) if arm in arms else 0.0 for arm in range(self.n_arms))
        return Choice(arms[int(u * len(arms))], shares, (), reason)

    def probabilities(self, state: Floats, recommendation_id: int, memo: Sequence[float]) -> list[float]:
        """The probability of each arm at a recommendation, from the state before it and its memo."""
        buffers = self._buffers
        buffers.memo.fill(0.0)
        buffers.memo[: self.memo_size] = memo
        point(buffers.rng, recommendation_id, ESTIMATE)
        return self._probabilities(state)

    def decider(self, memo: Sequence[float]) -> str:
        """The name of the part that decided, from a recommendation's memo."""
        buffers = self._buffers
        buffers.memo.fill(0.0)
        buffers.memo[: self.memo_size] = memo
        return self._deciders[decider(self._rule, buffers.named_memo)]

    def learn(self, state: Floats, lessons: LessonArrays) -> Learned:
        """The state after some lessons, without those at which the policy failed."""
        if not self.is_loaded:
            self.ensure_loaded()
        try:
            return Learned(self._learn_all(state, lessons))
        except UnavailableError:
            raise
        except Exception as error:
            return self._learn_around(state, lessons, int(self._buffers.done[0]), error)

    def _learn_around(self, state: Floats, lessons: LessonArrays, failed: int, error: Exception) -> Learned:
        """Go on behind a lesson at which the policy failed, as if it had not been there."""
        refused: list[tuple[int, str]] = []
        start = 0
        while True:
            log.warning("policy failed to learn from a report, which is left out", exc_info=error)
            refused.append((start + failed, reason_of(error)))
            # The failed lesson may have changed part of the state: learn again up to it.
            state = self._learn_all(state, lessons.part(0, failed))
            lessons, start = lessons.part(failed + 1), start + failed + 1
            try:
                return Learned(self._learn_all(state, lessons), refused)
            except UnavailableError:
                raise
            except Exception as another:
                error, failed = another, int(self._buffers.done[0])

    def _learn_all(self, state: Floats, lessons: LessonArrays) -> Floats:
        buffers = self._buffers
        after, buffers.done[0] = state.copy(), 0
        try:
            self._run(LEARN_LESSONS, after, buffers.memo, buffers.rng, *lessons, buffers.done)
        except OF_THE_MACHINE as error:
            raise unavailable(self.policy, error) from error
        return after

    def learn_one(self, state: Floats, row: Row) -> Learned:
        """The state after a single lesson."""
        facts, values = one = self._buffers.one_lesson
        _, facts[0, 0], facts[0, 1], facts[0, 2], values[0, 0], memo = row
        if memo:
            values[0, 1:] = memo
        return self.learn(state, one)

    def check_reward(self, value: object) -> float:
        """A reward this policy can learn from."""
        reward = check_reward("reward", value)
        if self._values is not None and reward not in self._values:
            values = listed(f"{known:g}" for known in self._values)
            expected = f"one of {values}: a policy that recycles must know every value (reward_values=…)"
            raise InputError("reward", value, expected)
        return reward

    def _probabilities(self, state: Floats) -> list[float]:
        if self._lacks_tables:
            self._load_steps()
        buffers = self._buffers
        buffers.state[:] = state
        probabilities(self._rule, buffers.named_state, buffers.named_memo, 1.0, buffers.out, buffers.rng)
        return [min(1.0, max(0.0, p)) for p in buffers.out[: self.n_arms].tolist()]  # rounding may pass 1

    def _load_steps(self) -> None:
        if self._lacks_tables:
            try:
                self._rule, self._lacks_tables = self._assemble().rule, False
            except InputError as error:  # there is too little memory now
                raise UnavailableError(str(error)) from error
        buffers = self._buffers
        own = (buffers.state, buffers.memo, buffers.rng)
        self._kernels[CHOOSE_ARM] = CHOOSE_ARM.compiled(self._rule, *own, 0)
        one_lesson = (*buffers.one_lesson, buffers.done)
        self._kernels[LEARN_LESSONS] = LEARN_LESSONS.compiled(self._rule, *own, *one_lesson)

    def load_allocation(self) -> None:
        """As `load`, for drawing arms by shares."""
        if self._lacks_tables:
            self._load_steps()
        own = (self._buffers.state, self._buffers.memo, self._buffers.rng, 0, self._buffers.shares)
        self._kernels[ALLOCATE_ARM] = ALLOCATE_ARM.compiled(self._rule, *own)

    def _run(self, kernel: Any, *arguments: Any) -> Any:
        if kernel not in self._kernels:  # looking up a kernel by the types of its arguments takes longer than its run
            self.load_allocation() if kernel is ALLOCATE_ARM else self._load_steps()
        return self._kernels[kernel](self._rule, *arguments)
