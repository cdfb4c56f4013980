"""Run a policy in one trial: choose an arm from a state, and compute the state after consecutive updates."""

import logging
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from adhere.design.design import Design
from adhere.errors import CompileError, InputError, SecretUnknownError, UnavailableError
from adhere.randomness import FALLBACK, uniforms
from adhere.trial.policy.policy_steps import OF_THE_MACHINE, PolicySteps, reason_of, unavailable
from adhere.trial.policy.policy_steps import Choice as Choice
from adhere.trial.policy.policy_steps import Floats as Floats
from adhere.trial.policy.steps import LEARN_UPDATES
from adhere.trial.policy.updates import Row, UpdateArrays
from adhere.trial.secret.trial_keys import TrialKeys

log = logging.getLogger("adhere.trial")


class Learned(msgspec.Struct, frozen=True, gc=False):
    """The state of a policy after some updates, with the index of each refused update and the reason."""

    state: Floats
    refused: Sequence[tuple[int, str]] = ()


class Engine(PolicySteps):
    """The compiled steps of one policy for one trial. Threads may share an engine.

    It stores no state of the trial: states are passed in as values, and no method changes its argument.
    """

    is_loaded = False  # whether the compiled steps are in memory
    falls_back = True  # if the policy fails to choose: draw with equal probabilities (True) or raise
    _does_not_compile = False

    def load(self) -> None:
        """Compile the steps, or load them from disk, so that the first patient does not wait.

        Raises `CompileError` if the policy does not compile, `InputError` if it fails at its first recommendation,
        and `UnavailableError` if the machine lacks memory or another resource.
        """
        if (failure := self.try_to_load()) is not None:
            sentence = f"the policy {self.policy} fails at its first recommendation: {reason_of(failure)}"
            raise InputError("policy", str(self.policy), "a policy that recommends an arm", sentence) from failure

    def try_to_load(self) -> Exception | None:
        """Load the steps. Return the error if the policy failed at its first recommendation, or None."""
        failure = None
        try:
            self._load_steps()
            self.try_out()
        except (CompileError, UnavailableError):
            raise
        except OF_THE_MACHINE as error:
            raise unavailable(self.policy, error) from error
        except Exception as error:
            failure = error
        self.is_loaded = True
        return failure

    def ensure_loaded(self) -> None:
        """Load the steps of a running trial. A policy that does not compile here raises `UnavailableError`."""
        if self.is_loaded:
            return
        if self._does_not_compile:
            raise UnavailableError(f"the policy {self.policy} does not compile on this machine")
        try:
            self.try_to_load()  # a policy that fails is reported at each recommendation
        except CompileError as error:
            self._does_not_compile = True
            raise UnavailableError(f"the policy {self.policy} does not compile on this machine") from error

    def choose_or_fall_back(
        self,
        state: Floats,
        index: int,
        epoch: str = "",
        choose: Callable[[], Choice] | None = None,
        left: Sequence[int] | None = None,
    ) -> Choice:
        """Choose an arm with the policy or, if given, with `choose`. If the choice fails, draw an arm with equal
        probabilities.

        `left` lists the arms to draw from after a failure (default: all arms).
        """
        self.ensure_loaded()
        try:
            return self.choose(state, index, epoch) if choose is None else choose()
        except OF_THE_MACHINE as error:
            raise unavailable(self.policy, error) from error
        except SecretUnknownError:
            raise
        except (CompileError, UnavailableError) as error:
            raise UnavailableError(f"the policy {self.policy} cannot be loaded") from error
        except Exception as error:
            if not self.falls_back:
                raise self.explain(error, state, index, epoch) from None
            log.warning("policy failed to recommend; drawing an arm with equal probabilities", exc_info=True)
            return self.fall_back(index, reason_of(error), epoch, left)

    def fall_back(self, index: int, reason: str, epoch: str = "", left: Sequence[int] | None = None) -> Choice:
        """Draw one of the arms in `left` (default: of all arms) with equal probabilities."""
        arms = range(self.n_arms) if left is None else left
        keys = np.array([self.keys.at(epoch, index)], np.uint64)
        u = uniforms(keys, np.array([index]), FALLBACK)[0, 0]
        return Choice(arms[int(u * len(arms))], self.equal_shares(left), (), reason)

    def equal_shares(self, left: Sequence[int] | None) -> tuple[float, ...]:
        """Return equal probabilities for the arms in `left` (default: for all arms)."""
        arms = range(self.n_arms) if left is None else left
        return tuple(1.0 / len(arms) if arm in arms else 0.0 for arm in range(self.n_arms))

    def learn(self, state: Floats, updates: UpdateArrays) -> Learned:
        """Return the state after some updates. Updates at which the policy fails are skipped."""
        if not self.is_loaded:
            self.ensure_loaded()
        try:
            return Learned(self._learn_all(state, updates))
        except UnavailableError:
            raise
        except Exception as error:
            return self._learn_around(state, updates, int(self._buffers.done[0]), error)

    def _learn_around(self, state: Floats, updates: UpdateArrays, failed: int, error: Exception) -> Learned:
        """Continue after an update at which the policy failed, as if that update did not exist."""
        refused: list[tuple[int, str]] = []
        start = 0
        while True:
            log.warning("policy failed to learn from a report; the report is skipped", exc_info=error)
            refused.append((start + failed, reason_of(error)))
            # The failed update may have changed part of the state, so learn again up to it.
            state = self._learn_all(state, updates.part(0, failed))
            updates, start = updates.part(failed + 1), start + failed + 1
            try:
                return Learned(self._learn_all(state, updates), refused)
            except UnavailableError:
                raise
            except Exception as another:
                error, failed = another, int(self._buffers.done[0])

    def _learn_all(self, state: Floats, updates: UpdateArrays) -> Floats:
        buffers = self._buffers
        after, buffers.done[0] = state.copy(), 0
        try:
            self._run(LEARN_UPDATES, after, buffers.memo, buffers.rng, *updates, buffers.done)
        except OF_THE_MACHINE as error:
            raise unavailable(self.policy, error) from error
        return after

    def learn_one(self, state: Floats, row: Row) -> Learned:
        """Return the state after a single update."""
        facts, values = one = self._buffers.one_update
        _, facts[0, 0], facts[0, 1], facts[0, 2], values[0, 0], memo = row
        if memo:
            values[0, 1:] = memo
        return self.learn(state, one)


def engine_of(design: Design, keys: TrialKeys | None = None) -> Engine:
    """Return the compiled policy of a design. Without the keys of a trial's draws, it can only be tried out."""
    return Engine(
        design.policy,
        design.arms,
        keys,
        n_patients=design.n_patients,
        reward_values=design.reward_values,
        lower_is_better=design.lower_is_better,
    )
