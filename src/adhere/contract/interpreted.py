"""A policy run as plain Python, one step at a time, on arrays that refuse what compiled code would do silently."""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from adhere.compilation import classes_of, implementation, memo_of, state_of
from adhere.compilation.compile_errors import return_place
from adhere.compilation.layout import Floats
from adhere.compilation.policy_failures import divides_by_zero
from adhere.compilation.user_code import sentence_of, traceback_place
from adhere.contract.findings import ARMS, FINITE, INDICES, MEMO, RUNS, STATE, Broken
from adhere.policies import ComplianceAwareLearner
from adhere.policies.base.generic import choose, note_allocation, probabilities, remember, replay_choice, update
from adhere.policies.base.policy import Policy, TrialShape, probabilities_size
from adhere.randomness import CHOOSE, ESTIMATE, LEARN, LEARN_LATE, point, stream

SECONDS = 20.0


@contextmanager
def limited() -> Iterator[None]:
    """Raise a `TimeoutError` if the block takes too long; never in threads or on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"still running after {SECONDS:g} seconds; does the loop end?")


class StrictArray(np.ndarray[Any, Any]):
    """Floats of a state or memo. Copies of them, and results computed from them, are ordinary arrays."""

    kind: str | None

    def __array_finalize__(self, source: Any) -> None:
        """Give views the `kind` of the array; copies get no kind."""
        self.kind = getattr(source, "kind", None) if self.base is not None else None

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Compute with ordinary arrays."""
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(_plain(one) for one in out)
        result = getattr(ufunc, method)(*(_plain(one) for one in inputs), **kwargs)
        for one in out or ():
            if isinstance(one, StrictArray):
                one._refuse_writing(_plain(one))
        return out[0] if out and len(out) == 1 else result

    def __getitem__(self, index: Any) -> Any:
        """Return an element or a view."""
        if self.kind is None:
            return super().__getitem__(index)
        _refuse_negative(index, self.shape)
        found = super().__getitem__(index)
        if self.kind == "memo" and isinstance(found, np.floating) and np.isnan(found):
            raise Broken(MEMO, "the memo is read here before it is written; write it in remember, for every decision")
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write one or several elements."""
        if self.kind is not None:
            _refuse_negative(index, self.shape)
            self._refuse_writing(value)
        super().__setitem__(index, value)

    def _refuse_writing(self, value: Any) -> None:
        # A memo also contains workspace, which may be undefined for a while.
        if self.kind == "state" and self.flags.writeable and not np.isfinite(np.asarray(value, float)).all():
            raise Broken(FINITE, f"{value} is written into the state here")


def _strict(values: Any, kind: str) -> StrictArray:
    """Return a copy as a `StrictArray`."""
    array = np.array(values, float).view(StrictArray)
    array.kind = kind
    return array


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, StrictArray) else value


def _refuse_negative(index: Any, shape: tuple[int, ...]) -> None:
    # The last columns of `PerPair` are those of nothing and of something else, whose indices are -1 and -2.
    is_by_pair = len(shape) == 2 and shape[1] == shape[0] + 2
    for place, one in enumerate(index if isinstance(index, tuple) else (index,)):
        if isinstance(one, int | np.integer) and one < 0 and not (is_by_pair and place == 1):
            raise Broken(INDICES, f"index {one} is negative here; count from 0 to the number of entries less 1")


HORIZON = 1000
_OF_MATH = re.compile("math domain|expected a |cannot convert float")  # error messages of Python's `math` and `int`


class Decision(NamedTuple):
    """The chosen arm, and the memo that waits for the feedback."""

    number: int
    chosen: int
    memo: Floats


class Interpreted:
    """One trial of a policy. Anything that goes wrong raises `Broken`, with the user's file and line."""

    def __init__(self, policy: Policy, n_arms: int, seed: int = 0) -> None:
        compiled = policy.resolved(n_arms, HORIZON).assemble(TrialShape(n_arms))
        self.n_arms, self.rule = n_arms, compiled.rule
        # Feedback codes of an actual arm that is reported with the reward, and after it (see
        # `policies.base.generic`).
        self.feedback = {arm: n_arms + 1 + arm for arm in range(n_arms)}
        if any(isinstance(learner, ComplianceAwareLearner) for learner in policy.learners()):
            self.feedback |= {-2: 2 * n_arms + 1, -3: 2 * n_arms + 2}
        self._kept = compiled.memo_size
        self.state = _strict(compiled.state, "state")
        self.memo = _strict(np.zeros(compiled.memo_size + compiled.scratch_size), "memo")
        self._state, self._memo = state_of(self.rule, self.state), memo_of(self.rule, self.memo)
        self.rng = stream(seed, 0)
        self._seed = seed
        default = implementation(replay_choice, object)
        self._may_change = any(implementation(replay_choice, cls) is not default for cls in classes_of(self.rule))

    def turn_to(self, run: int) -> None:
        """Draw the random numbers of another run from now on."""
        self.rng[:] = stream(self._seed, run)

    def decide(self, number: int) -> Decision:
        """Choose an arm, with a memo that contains nothing from the last decision."""
        with self._remembering():
            point(self.rng, number, CHOOSE)
            arm = choose(self.rule, self._state, self._memo, 1.0, self.rng)
        if not isinstance(arm, int | np.integer) or isinstance(arm, bool) or not 0 <= arm < self.n_arms:
            place, numbers = return_place(classes_of(self.rule)), f"0 to {self.n_arms - 1}"
            where = f"{place}: " if place else ""
            raise Broken(ARMS, f"{where}choose returns {arm!s}; it must return a whole number from {numbers}")
        kept = np.array(self.memo[: self._kept])
        if np.isinf(kept).any():
            raise Broken(FINITE, f"{return_place(classes_of(self.rule))}: by here the memo holds inf")
        return Decision(number, int(arm), kept)

    def note(self, decision: Decision) -> None:
        """Let the policy note the arm that was allocated, before the next decision."""
        point(self.rng, decision.number, CHOOSE)
        with stopping_at_the_line():
            note_allocation(self.rule, self._state, decision.chosen, self.rng)

    def probabilities(self, number: int) -> Floats:
        """Return the probabilities of the policy's next choice, with a memo that `choose` has not written to.

        Code that checks the log of a live trial cannot choose again, since it does not have the trial's secret.
        """
        out = np.full(probabilities_size(self.n_arms), np.nan)
        with self._remembering():
            point(self.rng, number, ESTIMATE)
            probabilities(self.rule, self._state, self._memo, 1.0, out, self.rng)
        return out[: self.n_arms]

    def learn(self, decision: Decision, feedback: int, reward: float) -> bool:
        """Learn from a patient, and return whether random numbers were drawn for it."""
        memo = self.memo.view(np.ndarray)
        memo[: self._kept], memo[self._kept :] = decision.memo, np.nan
        point(self.rng, decision.number, LEARN if feedback <= self.n_arms else LEARN_LATE)
        before = int(self.rng[2])
        with stopping_at_the_line():
            update(self.rule, self._state, self._memo, decision.chosen, feedback, reward, 1.0, self.rng)
        return int(self.rng[2]) != before

    def set_state(self, values: Floats) -> None:
        """Return to an earlier state."""
        self.state.view(np.ndarray)[:] = values

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        """Begin a decision, with a read-only state and a memo that contains nothing from the last decision."""
        self.memo.view(np.ndarray).fill(np.nan)
        self.state.flags.writeable = self._may_change
        try:
            with stopping_at_the_line():
                remember(self.rule, self._state, self._memo)
                yield
        finally:
            self.state.flags.writeable = True


@contextmanager
def stopping_at_the_line() -> Iterator[None]:
    """Turn any exception into `Broken`, with the promise it breaks and the user's line."""
    try:
        with limited():
            yield
    except Exception as error:
        place = traceback_place(error.__traceback__)
        where = f"{place}: " if place else ""
        promise, sentence = _promise_of(error)
        raise Broken(promise, where + sentence) from error


def _promise_of(error: Exception) -> tuple[str, str]:
    if isinstance(error, Broken):
        return error.promise, error.sentence
    if isinstance(error, TimeoutError):
        return RUNS, str(error)
    if isinstance(error, IndexError):
        return INDICES, str(error)
    if isinstance(error, ValueError) and "read-only" in str(error):
        return STATE, "the state is changed here; only learn may change it"
    if divides_by_zero(error):
        return FINITE, "ZeroDivisionError: division by zero; guard against it"
    if isinstance(error, ArithmeticError) or (isinstance(error, ValueError) and _OF_MATH.search(str(error))):
        return FINITE, f"{sentence_of(error)}; compiled code would go on with inf or nan: guard against it"
    return RUNS, sentence_of(error)
