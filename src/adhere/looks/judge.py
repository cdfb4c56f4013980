"""What a look at a trial decides: rules compared with evidence.

`design.look_rules` makes the rules of a design; `posterior`, `belief`, `z_test` and `wealth` have the `judge` of each
kind. It is compiled in simulated trials on processors and GPUs, and run as Python by a live trial. A kernel gathers
the evidence that its rules need: it has generic functions of its own, whose default does nothing, with
implementations for `BeliefRules` or `WealthRules` (`compilation.generic_with_default`, `compilation.implements`), so
that what is not needed is not compiled.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import generic, implements, no_inline
from adhere.looks.beta_quadrature import N_ROWS, RESULT

Floats = NDArray[np.float64]

# Of an arm, and of the trial as what it stops for. They stand here since they are compiled in.
ACTIVE: Final = 0
SUPERIOR: Final = 1
INFERIOR: Final = 2
EQUIVALENT: Final = 3
FUTILE: Final = 4
GO_ON: Final = ACTIVE
NAMES: Final = ("active", "superior", "inferior", "equivalent", "futile")

# The numbers that a look compares with its four thresholds lie in `values[arm * N_VALUES + place]`, NaN where there
# is nothing to compare. The place is that of the threshold.
VALUES: Final = ("superiority", "inferiority", "equivalence", "futility")
BY_SUPERIORITY, BY_INFERIORITY, BY_EQUIVALENCE, BY_FUTILITY, N_VALUES = range(5)


class Evidence(NamedTuple):
    """What is known at a look, by arm chosen: flat arrays of floats.

    `n`, `sums` and `squares` are the number of known outcomes, their sum and that of their squares. `beliefs` are the
    policy's own probabilities that each arm is best, for `BeliefRules`. `log_up` and `log_down` are, for
    `WealthRules`, the logarithms of the most that the bets on "better than the control" and on "worse" ever had.
    `work` has `work_size(n_arms)` places with anything in them. What a rule does not need may be an empty array.
    """

    n: Floats
    sums: Floats
    squares: Floats
    beliefs: Floats
    log_up: Floats
    log_down: Floats
    work: Floats


def work_size(n_arms: int) -> int:
    """How many places `judge` works in."""
    return N_ROWS * n_arms


class NoRules(NamedTuple):
    """A look decides nothing."""

    n_arms: int
    control: int


class PosteriorRules(NamedTuple):
    """By the posterior of each arm's mean given the outcomes of those who were recommended it: which is best.

    Thresholds are arrays by look, NaN where there is none. `control` is -1.
    """

    n_arms: int
    control: int
    margin: float
    superiority: Floats
    inferiority: Floats
    equivalence: Floats
    futility: Floats


class ControlledPosteriorRules(NamedTuple):
    """By the same posteriors: which arms are better than the control."""

    n_arms: int
    control: int
    margin: float
    superiority: Floats
    inferiority: Floats
    equivalence: Floats
    futility: Floats


class BeliefRules(NamedTuple):
    """By the probability that the policy itself gives to each arm of being best."""

    n_arms: int
    control: int
    superiority: Floats
    inferiority: Floats


class ZRules(NamedTuple):
    """By the z-statistic of each arm against the control; thresholds are critical values."""

    n_arms: int
    control: int
    margin: float
    superiority: Floats
    inferiority: Floats
    equivalence: Floats
    futility: Floats


class WealthRules(NamedTuple):
    """By the wealth of bets against no effect of each arm, by intention to treat."""

    n_arms: int
    control: int
    log_threshold: float  # log(2 / alpha)


Rules = NoRules | PosteriorRules | ControlledPosteriorRules | BeliefRules | ZRules | WealthRules


def needs_beliefs(rules: Rules) -> bool:
    """Whether evidence must have beliefs."""
    return isinstance(rules, BeliefRules)


def needs_wealth(rules: Rules) -> bool:
    """Whether evidence must have the wealth of bets."""
    return isinstance(rules, WealthRules)


@generic
def judge(rules: Any, look: int, evidence: Evidence, status: Any, values: Any) -> int:
    """Decide at a look, counted from 0; arms whose status is not ACTIVE have been dropped.

    Writes the new `status[arm]` and `values[arm * N_VALUES + place]`, and returns what the trial stops for, or GO_ON.
    """
    raise NotImplementedError


@no_inline
def selected_arm(status: Any, values: Any) -> int:
    """Of the arms found superior, the one that is it most clearly; -1 if there is none."""
    best = -1
    for arm in range(status.size):
        if status[arm] == SUPERIOR and (
            best < 0 or values[arm * N_VALUES + BY_SUPERIORITY] > values[best * N_VALUES + BY_SUPERIORITY]
        ):
            best = arm
    return best


@implements(judge, NoRules)
def judge_nothing(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Go on to the end."""
    clear(values)
    return GO_ON


@implements(judge, WealthRules)
@implements(judge, ZRules)
@implements(judge, ControlledPosteriorRules)
def judge_against_control(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Arms against the control, each by `status_against_control`."""
    clear(values)
    return compare_with_control(rules, look, evidence, status, values)


@no_inline
def compare_with_control(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Find the status of every arm that is left beside the control, and what follows for the trial.

    It stops when an arm is superior, or when none is left: for what the first arm was dropped for at this look.
    """
    n_superior, n_left, dropped_for = 0, 0, GO_ON
    for arm in range(status.size):
        if arm != rules.control and status[arm] == ACTIVE:
            found = status_against_control(rules, look, arm, evidence, values)
            status[arm] = found
            if found == SUPERIOR:
                n_superior += 1
            elif found == ACTIVE:
                n_left += 1
            elif dropped_for == GO_ON:
                dropped_for = found
    if n_superior > 0:
        return SUPERIOR
    return GO_ON if n_left > 0 else dropped_for


@generic
def status_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """What one arm is found to be; writes its values."""
    raise NotImplementedError


@no_inline
def status_of(is_superior: bool, is_inferior: bool, is_equivalent: bool, is_futile: bool) -> int:
    """The first that holds."""
    if is_superior:
        return SUPERIOR
    if is_inferior:
        return INFERIOR
    if is_equivalent:
        return EQUIVALENT
    return FUTILE if is_futile else ACTIVE


@no_inline
def pick_best(n_left: int, superiority: float, inferiority: float, work: Any, status: Any, values: Any) -> int:
    """Find the arm that is superior, or drop those that are inferior.

    The results in `work` are the probabilities of the arms left, in their order, of being best.
    """
    best, best_place, place = -1, 0, 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            probability = work[RESULT * n_left + place]
            write(values, arm * N_VALUES + BY_SUPERIORITY, probability, superiority)
            write(values, arm * N_VALUES + BY_INFERIORITY, probability, inferiority)
            if best < 0 or probability > work[RESULT * n_left + best_place]:
                best, best_place = arm, place
            place += 1
    largest = work[RESULT * n_left + best_place]
    if largest >= superiority:
        status[best] = SUPERIOR
        return SUPERIOR
    # The best is dropped last, so that it need not be looked at: it is what is left.
    n_dropped, place = 0, 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            if arm != best and work[RESULT * n_left + place] <= inferiority:
                status[arm] = INFERIOR
                n_dropped += 1
            place += 1
    if n_dropped == n_left - 1:
        status[best] = SUPERIOR
        return SUPERIOR
    return GO_ON


@no_inline
def write(values: Any, place: int, value: float, threshold: float) -> float:
    """Note a number that is compared with a threshold, unless there is none."""
    if threshold == threshold:
        values[place] = value
    return value


@no_inline
def clear(values: Any) -> None:
    """Nothing was compared yet."""
    for place in range(values.size):
        values[place] = math.nan
