"""Apply a policy's compiled functions to a state: choose an arm, and compute probabilities and beliefs."""

import math
import re
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Kernel, classes_of, memo_of, state_of
from adhere.compilation.policy_failures import explain_step
from adhere.compilation.sources import noted_digest
from adhere.design.policy_in_trial import PolicyInTrial
from adhere.errors import InputError, SecretUnknownError, UnavailableError
from adhere.policies import BurnIn, ComplianceAwareLearner
from adhere.policies.base.generic import component, probabilities
from adhere.policies.base.policy import CompiledPolicy, Policy, probabilities_size
from adhere.policies.base.registry import registry
from adhere.randomness import ESTIMATE, MAX_DECISIONS, STREAM_SIZE, STREAM_VERSION, Stream, point, set_keys
from adhere.trial.policy.steps import (
    ALLOCATE_ARM,
    CHOOSE_ARM,
    LEARN_UPDATES,
    choose_arm,
    stated_shares,
    write_beliefs,
)
from adhere.trial.policy.updates import UpdateArrays
from adhere.trial.secret.trial_keys import TrialKeys
from adhere.trial.secret.trial_secret import KeyPair

# Errors that are not the policy's fault.
OF_THE_MACHINE: Final = (MemoryError, OSError)
_PATH = re.compile(r"""(?<![\w)\]}])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^\s'",;)]*""")


def reason_of(error: Exception) -> str:
    """Return why a policy failed, for the log: the error and its message, shortened and without paths of this
    machine.

    >>> reason_of(ValueError("no /home/me/table.csv, nor thompson/actual"))
    'ValueError: no <path>, nor thompson/actual'
    """
    said = " ".join(_PATH.sub("<path>", str(error)).split())
    return f"{type(error).__name__}: {said}"[:300] if said else type(error).__name__


def unavailable(policy: Policy, error: Exception) -> UnavailableError:
    """Return the error for a machine that lacks a resource, without the operating system's message."""
    return UnavailableError(f"the policy {policy} cannot run at the moment ({type(error).__name__})")


def _version_of(policy: type[Policy]) -> str:
    """Return a policy's version. A user's own policy includes a digest of its file, since any edit may change it."""
    own = policy.__module__.partition(".")[0] != "adhere"
    contents = noted_digest(policy.__module__) if own else None
    return f"{policy.algorithm_version}+{contents[:8]}" if contents else str(policy.algorithm_version)


def algorithm_version(policy: Policy, rule: Any) -> str:
    """Return the versions of all algorithms that turn a random key into an arm."""
    # A hybrid may use learners that its text does not name.
    classes = classes_of(rule)
    used = {name: cls for name, cls in registry.items() if getattr(cls, "rule_class", None) in classes}
    used |= {part.name: type(part) for part in policy.parts()}
    versions = {name: _version_of(cls) for name, cls in used.items()}
    return " ".join([*(f"{name}:{versions[name]}" for name in sorted(versions)), f"randomness:{STREAM_VERSION}"])


class Buffers:
    """Work arrays of compiled code. Allocating them takes longer than most steps."""

    def __init__(self, compiled: CompiledPolicy, stream: Any) -> None:
        self.state, self.rng = compiled.state.copy(), stream.copy()
        self.memo = np.zeros(compiled.memo_size + compiled.scratch_size)
        self.named_state, self.named_memo = state_of(compiled.rule, self.state), memo_of(compiled.rule, self.memo)
        self.out = np.zeros(probabilities_size(compiled.rule.n_arms))
        self.shares = np.zeros(compiled.rule.n_arms)
        self.one_update = UpdateArrays(np.zeros((1, 3), np.int64), np.zeros((1, 1 + compiled.memo_size)))
        self.done = np.zeros(1, np.int64)


class BuffersOfThread(threading.local):
    """The buffers of each thread."""

    def __init__(self, compiled: CompiledPolicy, stream: Any) -> None:
        self.own = Buffers(compiled, stream)  # accessed once per step: attributes of a thread are slow


Floats = NDArray[np.float64]
_SUM_TOLERANCE = 1e-6
_STEPS = (CHOOSE_ARM, LEARN_UPDATES)  # needed by every trial


class Choice(NamedTuple):
    """An arm, the probability of each arm, and the values that learning must remember.

    `fallback` is the reason if the arm was drawn with equal probabilities instead; the policy does not learn from
    such a round. If `prescribed` is true, the arm was drawn by the given probabilities, which are then exact.
    """

    chosen: int
    probabilities: tuple[float, ...]
    memo: tuple[float, ...]
    fallback: str = ""
    prescribed: bool = False


class PolicySteps(PolicyInTrial):
    """The compiled functions of one policy for one trial. No method changes the state passed to it."""

    def __init__(
        self,
        policy: object,
        arms: int | Sequence[str],
        keys: TrialKeys | None = None,
        *,
        n_patients: int | None = None,
        reward_values: Sequence[float] = (0.0, 1.0),
        lower_is_better: bool = False,
    ) -> None:
        super().__init__(
            policy, arms, n_patients=n_patients, reward_values=reward_values, lower_is_better=lower_is_better
        )
        compiled = self._compiled
        self.sees_both_arms = any(isinstance(one, ComplianceAwareLearner) for one in self.policy.learners())
        self.estimated = self.policy.estimates_probabilities  # for a user's policy, known only after compiling
        self._components = compiled.components
        # A policy that recycles may take an outcome out of its cache. In a burn-in the arm uses a place in a block.
        burn_ins = [part.patients for part in self.policy.parts() if isinstance(part, BurnIn)]
        self.n_changing = MAX_DECISIONS if self.recycles else max(burn_ins, default=0)
        self._rule = compiled.rule
        self.keys = keys or TrialKeys(seed=0)
        public = np.zeros(STREAM_SIZE, np.uint64)
        set_keys(public, *self.keys.public)
        self._of_thread = BuffersOfThread(compiled, public)
        self._kernels: dict[Any, Any] = {}
        self.algorithm_version = algorithm_version(self.policy, self._rule)

    @property
    def _buffers(self) -> Buffers:
        return self._of_thread.own

    def _prepared(self, state: Floats, memo: Sequence[float] = ()) -> Buffers:
        """Return this thread's buffers, filled with a state and a memo (by default an empty one)."""
        buffers = self._buffers
        buffers.state[:] = state
        buffers.memo.fill(0.0)
        if memo:
            buffers.memo[: self.memo_size] = memo
        return buffers

    def choose(self, state: Floats, index: int, epoch: str = "") -> Choice:
        """Choose an arm. Errors of the policy are passed on; raises `InputError` if its output is invalid.

        `epoch` is the commitment to the secret that draws the arm.
        """
        return self._choose(state, index, self.keys.at(epoch, index))

    def explain(self, error: Exception, state: Floats, index: int, epoch: str = "") -> Exception:
        """Return the exception to raise if `choose` failed, with file and line if a user's function failed.

        The step is repeated as Python with the same keys.
        """
        if isinstance(error, (InputError, UnavailableError, SecretUnknownError, *OF_THE_MACHINE)):
            return error

        def play() -> object:
            buffers, own = self._buffers, state.copy()
            buffers.memo.fill(0.0)
            buffers.rng[0], buffers.rng[1] = self.keys.at(epoch, index)
            try:
                return choose_arm(self._rule, own, buffers.memo, buffers.rng, index)
            finally:
                buffers.rng[0], buffers.rng[1] = self.keys.public

        return explain_step(str(self.policy), self._rule, error, play, f" (recommendation {index + 1})")

    def try_out(self) -> None:
        """Choose a first arm with public keys, which also loads the tables for probabilities. Raises like
        `choose`.
        """
        self._choose(self.first_state, 0, self.keys.public)

    def _choose(self, state: Floats, index: int, keys: KeyPair) -> Choice:
        buffers = self._prepared(state)
        after, memo = buffers.state, buffers.memo
        chosen = self._draw(buffers.rng, keys, CHOOSE_ARM, after, memo, buffers.rng, index)
        if not isinstance(chosen, int) or not 0 <= chosen < self.n_arms:
            raise InputError(f"arm chosen by {self.policy}", chosen, f"a whole number from 0 to {self.n_arms - 1}")
        if not self.recycles and after.tobytes() != state.tobytes():
            raise InputError(f"policy {self.policy}", "a choose that changes the state", "only learn to change it")
        remembered = tuple(memo[: self.memo_size].tolist())  # before an estimate draws and overwrites it
        distribution = self._probabilities(state)
        if not abs(sum(distribution) - 1.0) <= _SUM_TOLERANCE:  # also catches a NaN
            raise InputError(f"probabilities of {self.policy}", distribution, "numbers from 0 to 1 that add up to 1")
        if not all(map(math.isfinite, remembered)):
            raise InputError(f"memo of {self.policy}", remembered, "finite numbers")
        return Choice(chosen, tuple(distribution), remembered)

    def allocate(self, state: Floats, index: int, shares: Sequence[float], epoch: str = "") -> Choice:
        """Draw an arm by shares that the design prescribes. The policy treats it as the decision of a guard."""
        buffers = self._prepared(state)
        buffers.shares[:] = shares
        own = buffers.state, buffers.memo, buffers.rng
        chosen = self._draw(buffers.rng, self.keys.at(epoch, index), ALLOCATE_ARM, *own, index, buffers.shares)
        remembered = tuple(buffers.memo[: self.memo_size].tolist())
        if not all(map(math.isfinite, remembered)):
            raise InputError(f"memo of {self.policy}", remembered, "finite numbers")
        return Choice(int(chosen), tuple(shares), remembered, prescribed=True)

    def _draw(self, rng: Stream, keys: KeyPair, kernel: Any, *arguments: Any) -> Any:
        """Run a step that draws an arm, with keys that are used for no other draw."""
        rng[0], rng[1] = keys
        try:
            return self._run(kernel, *arguments)
        finally:
            rng[0], rng[1] = self.keys.public

    def stated_shares(self, state: Floats, index: int, dropped: Sequence[bool]) -> list[float]:
        """Return the probability of each arm at a future recommendation. Some arms may have been dropped."""
        if self._lacks_tables:
            self._load_steps()
        buffers = self._prepared(state)
        own = self._rule, buffers.named_state, buffers.named_memo
        stated_shares(*own, index, dropped, buffers.out, buffers.rng)
        return [float(share) for share in buffers.out[: self.n_arms]]

    def beliefs(self, state: Floats, index: int) -> list[float]:
        """Return the probabilities of the learner inside all guards, at a future recommendation."""
        rule, named_state, memo, rng = self.inside(state, index)
        out = self._buffers.out
        write_beliefs(rule, named_state, memo, out, rng)
        return [float(p) for p in out[: self.n_arms]]

    def inside(self, state: Floats, index: int) -> tuple[Any, Any, Any, Any]:
        """Return the rule, state, memo and stream at a future recommendation. They are valid until the next step is
        run.
        """
        buffers = self._prepared(state)
        point(buffers.rng, index, ESTIMATE)
        return self._rule, buffers.named_state, buffers.named_memo, buffers.rng

    def probabilities(self, state: Floats, index: int, memo: Sequence[float]) -> list[float]:
        """Return the probability of each arm at a recommendation, from the state before it and its memo."""
        point(self._prepared(state, memo).rng, index, ESTIMATE)
        return self._probabilities(state)

    def component(self, memo: Sequence[float]) -> str:
        """Return the name of the component that decided, from a recommendation's memo."""
        return self._components[component(self._rule, self._prepared(self.first_state, memo).named_memo)]

    def _probabilities(self, state: Floats) -> list[float]:
        if self._lacks_tables:
            self._load_steps()
        buffers = self._buffers
        buffers.state[:] = state
        probabilities(self._rule, buffers.named_state, buffers.named_memo, 1.0, buffers.out, buffers.rng)
        return [min(1.0, max(0.0, p)) for p in buffers.out[: self.n_arms].tolist()]  # rounding may pass 1

    def load_allocation(self) -> None:
        """Load the step that draws arms by shares."""
        self._load_steps(ALLOCATE_ARM)

    @property
    def loads_at_once(self) -> bool:
        """Return whether loading is fast: the steps are compiled, in memory or on disk, and no table must be
        computed.
        """
        return not self._lacks_tables and all(step.ready(self._rule, *self._given_to(step)) for step in _STEPS)

    def _given_to(self, step: Kernel) -> tuple[Any, ...]:
        """Return the arguments for a step, which also determine the types to compile it for."""
        buffers = self._buffers
        more = {
            CHOOSE_ARM: (0,),
            ALLOCATE_ARM: (0, buffers.shares),
            LEARN_UPDATES: (*buffers.one_update, buffers.done),
        }
        return (buffers.state, buffers.memo, buffers.rng, *more[step])

    def _load_steps(self, *steps: Kernel) -> None:
        """Load the policy's tables, then the given steps or, by default, the steps that every trial needs."""
        if self._lacks_tables:
            try:
                self._rule, self._lacks_tables = self._assemble().rule, False
            except InputError as error:  # there is too little memory now
                raise UnavailableError(str(error)) from error
        for step in steps or _STEPS:
            self._kernels[step] = step.compiled(self._rule, *self._given_to(step))

    def _run(self, kernel: Any, *arguments: Any) -> Any:
        if kernel not in self._kernels:  # looking up a kernel by the types of its arguments takes longer than its run
            self._load_steps(kernel)
        return self._kernels[kernel](self._rule, *arguments)
