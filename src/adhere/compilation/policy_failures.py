"""Explain a policy that fails while it runs, in a one-line message with policy, file and line.

Compiled code reports what went wrong, but seldom where. The run that failed is therefore found with compiled code,
and played again as Python up to the same patient. That traceback contains the user's line.
"""

import itertools
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import config

from adhere.compilation.compile_errors import return_place, users_modules
from adhere.compilation.dispatch import implementations_of
from adhere.compilation.kernel import classes_of
from adhere.compilation.user_code import Place, is_users, sentence_of, traceback_place
from adhere.errors import InputError, PolicyError

# NumPy's messages about a division by 0, for which Python's own numbers raise `ZeroDivisionError`. An array that is
# divided by 0 contains infinity, compiled or not.
_DIVIDED = r"(divide by zero|invalid value) encountered in scalar (divide|floor_divide|remainder|divmod)"
_POWER = r"divide by zero encountered in scalar power"
_ONE_THREAD = threading.RLock()


@contextmanager
def as_python(*modules: ModuleType, strict: bool = False) -> Iterator[None]:
    """Run the policies of some modules as Python, with NumPy's arithmetic as quiet as that of compiled code.

    If one of their functions divides a number by 0, it is an error, as in compiled code. If `strict`, an undefined
    power of 0 is an error too, as in Python. Only one thread at a time may do this, since others would find Numba
    turned off.
    """
    errors = [_DIVIDED, _POWER] if strict else [_DIVIDED]
    with _ONE_THREAD:
        compiled = [
            (module, name, one)
            for module in modules
            for name, one in vars(module).items()
            if hasattr(one, "py_func")  # the user's own njit function
        ]
        before, config.DISABLE_JIT = config.DISABLE_JIT, 1
        for module, name, one in compiled:
            setattr(module, name, one.py_func)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore", divide="warn", invalid="warn"):
                warnings.simplefilter("ignore", RuntimeWarning)
                for module, error in itertools.product(modules, errors):
                    warnings.filterwarnings("error", error, RuntimeWarning, re.escape(module.__name__) + r"\Z")
                yield
        finally:
            for module, name, one in compiled:
                setattr(module, name, one)
            config.DISABLE_JIT = before


def divides_by_zero(error: BaseException) -> bool:
    """Return whether an exception, raised by code that runs as Python, reports that a number was divided by 0."""
    return isinstance(error, ZeroDivisionError) or (
        isinstance(error, RuntimeWarning) and re.match(f"{_DIVIDED}|{_POWER}", str(error)) is not None
    )


_SECONDS = 60.0  # time limit for playing a run as Python
ARM = "an arm that does not exist"


class Loop(NamedTuple):
    """A loop that plays a policy: its function, compiled form and rule, and its arguments for a single run."""

    policy: str
    rule: Any
    population: str
    n_arms: int
    function: Callable[..., int]  # the loop; its variable `t` counts patients
    compiled: Callable[..., int]
    arguments: Callable[[int, Any], Any]  # for a run, and an array whose number stops the run
    no_fault: int


def explain_failure(loop: Loop, runs: range, error: Exception | None, stop: Any) -> Exception:
    """Return the exception to raise for failed runs. If `error` is None, an arm was chosen that does not exist.

    It is `error` itself unless a user's function ran. A non-zero `stop[0]` means that another thread failed earlier,
    so that no explanation is needed.
    """
    modules = users_modules(classes_of(loop.rule))
    if not modules or isinstance(error, MemoryError | OSError | InputError):
        return error or policy_error(loop.policy, None, None, _first_failure(loop, runs)[1], loop.n_arms)
    run, arm = _first_failure(loop, runs)
    place = traceback_place(error.__traceback__) if error is not None else None
    with _ONE_THREAD:
        found, patient, again = (None, None, None) if stop[0] else _played_again(loop, run, modules)
    error = _better_said(error, again)
    place = place or found or return_place(classes_of(loop.rule)) or _rule_place(loop.rule)
    when = "" if patient is None else f"patient {patient + 1} of "
    return policy_error(loop.policy, place, error, arm, loop.n_arms, f" ({when}run {run + 1} on {loop.population})")


def explain_step(policy: str, rule: Any, error: Exception, play: Callable[[], object], when: str) -> Exception:
    """Return the exception to raise for a failed step: `error` itself unless a user's function is part of it.

    `play` repeats the step, which runs as Python here.
    """
    modules = users_modules(classes_of(rule))
    if not modules:
        return error
    place, again = traceback_place(error.__traceback__), None
    with as_python(*modules):
        try:
            play()
        except Exception as raised:
            again = raised
    place = place or traceback_place(again.__traceback__ if again else None) or _rule_place(rule)
    return policy_error(policy, place, _better_said(error, again), None, 0, when)


def _better_said(error: Exception | None, again: Exception | None) -> Exception | None:
    """Return the error that Python raises instead, if compiled code could not write a value into the message."""
    is_garbled = error is not None and "<object type:" in str(error)
    return again if is_garbled and type(again) is type(error) else error


def policy_error(
    policy: str, place: Place | None, error: Exception | None, arm: int | None, n_arms: int, when: str = ""
) -> PolicyError:
    """Return the error about a policy that raised an exception, or that chose an arm that does not exist."""
    if error is None:
        reason = f"choose returns {arm}; it must return a whole number from 0 to {n_arms - 1}"
    else:
        reason = sentence_of(error).rstrip(".")
    return PolicyError(policy, str(place or ""), f"{reason}{when}", ARM if error is None else type(error).__name__)


def _first_failure(loop: Loop, runs: range) -> tuple[int, int | None]:
    """Return the first run that fails in compiled code, and the invalid arm if one is chosen."""
    for run in runs:
        try:
            fault = loop.compiled(*loop.arguments(run, np.zeros(1, np.int64)))
        except Exception:
            return run, None
        if fault != loop.no_fault:
            return run, int(fault)
    return runs.start, None  # only a fault of the machine can explain this


def _played_again(
    loop: Loop, run: int, modules: list[ModuleType]
) -> tuple[Place | None, int | None, Exception | None]:
    """Return where a run fails when it is played as Python: the user's line, the patient's index, and the error."""
    stop = np.zeros(1, np.int64)
    place, again = None, None
    with calling_after(_SECONDS, lambda: stop.fill(1)), as_python(*modules), _watched(loop) as watch:
        try:
            fault = loop.function(*loop.arguments(run, stop))
        except Exception as error:
            place, again = traceback_place(error.__traceback__), error
        else:
            place = watch.returned if fault != loop.no_fault else None
    t = watch.loop.f_locals.get("t") if watch.loop is not None and place is not None else None
    return place, None if t is None else int(t), again


@contextmanager
def calling_after(seconds: float, function: Callable[[], None]) -> Iterator[None]:
    """Call a function in another thread if the block takes longer than `seconds`."""
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Watch:
    """The frame of the loop, and the line at which a user's `choose` last returned."""

    def __init__(self, loop: Loop) -> None:
        self._loop_code = loop.function.__code__
        chosen = (implementations_of(cls).get("choose") for cls in classes_of(loop.rule))
        self._choices = {one.__code__ for one in chosen if one is not None and is_users(one.__code__.co_filename)}
        self.loop: FrameType | None = None
        self.returned: Place | None = None

    def see_call(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code is self._loop_code:
            self.loop = frame
        if frame.f_code not in self._choices:
            return None
        frame.f_trace_lines = False
        return self.see_return

    def see_return(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "return":
            self.returned = Place(frame.f_code.co_filename, frame.f_lineno)
        return self.see_return


@contextmanager
def _watched(loop: Loop) -> Iterator[_Watch]:
    watch, before = _Watch(loop), sys.gettrace()
    sys.settrace(watch.see_call)
    try:
        yield watch
    finally:
        sys.settrace(before)


def _rule_place(rule: Any) -> Place | None:
    """Return the line of a user's first function, for errors whose line is unknown."""
    functions = [one for cls in classes_of(rule) for one in implementations_of(cls).values()]
    places = [Place(one.__code__.co_filename, one.__code__.co_firstlineno) for one in functions]
    return min((place for place in places if is_users(place.file)), default=None)
