"""Decisions at a look of a trial: comparison of evidence with rules.

`design.look_rules` makes the rules of a design; `posterior`, `belief`, `z_test` and `wealth` implement `judge` for
each kind of rules. Simulated trials compile `judge` for processors and GPUs; a live trial runs it as Python.

A kernel gathers the evidence that its rules need. It has generic functions that do nothing by default, with
implementations for `BeliefRules` or `WealthRules` (`compilation.generic_with_default`, `compilation.implements`), so
that code that is not needed is not compiled.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import generic, implements, no_inline
from adhere.looks.beta_quadrature import N_ROWS, RESULT

Floats = NDArray[np.float64]

# Statuses of an arm, and reasons of a trial to stop. They are defined here because they are compiled in.
ACTIVE: Final = 0
SUPERIOR: Final = 1
INFERIOR: Final = 2
EQUIVALENT: Final = 3
FUTILE: Final = 4
GO_ON: Final = ACTIVE
NAMES: Final = ("active", "superior", "inferior", "equivalent", "futile")

# A look compares `values[arm * N_VALUES + place]` with threshold number `place`; NaN if there is nothing to compare.
VALUES: Final = ("superiority", "inferiority", "equivalence", "futility")
BY_SUPERIORITY, BY_INFERIORITY, BY_EQUIVALENCE, BY_FUTILITY, N_VALUES = range(5)


class Evidence(NamedTuple):
    """Evidence at a look, by arm chosen, as flat arrays of floats.

    `n`, `sums` and `squares` are the number of known outcomes, their sum and the sum of their squares. For
    `BeliefRules`, `beliefs` are the policy's own probabilities that each arm is best. For `WealthRules`, `log_up` and
    `log_down` are the logarithms of the largest wealth so far of the bets on "better than the control" and on
    "worse". `work` is a buffer of length `work_size(n_arms)`. Arrays that a rule does not need may be empty.
    """

    n: Floats
    sums: Floats
    squares: Floats
    beliefs: Floats
    log_up: Floats
    log_down: Floats
    work: Floats


def work_size(n_arms: int) -> int:
    """Return the length of the buffer that `judge` needs."""
    return N_ROWS * n_arms


class NoRules(NamedTuple):
    """Rules for looks at which nothing is decided."""

    n_arms: int
    control: int


class PosteriorRules(NamedTuple):
    """Rules for finding the best arm by the posteriors of the mean outcomes of patients recommended each arm.

    Each kind of threshold is an array by look, with NaN at looks without this threshold. `control` is -1 (none).
    """

    n_arms: int
    control: int
    margin: float
    superiority: Floats
    inferiority: Floats
    equivalence: Floats
    futility: Floats


class ControlledPosteriorRules(NamedTuple):
    """Rules for comparing each arm with the control by the posteriors that `PosteriorRules` uses."""

    n_arms: int
    control: int
    margin: float
    superiority: Floats
    inferiority: Floats
    equivalence: Floats
    futility: Floats


class BeliefRules(NamedTuple):
    """Rules for judging arms by the policy's own probability that each is best."""

    n_arms: int
    control: int
    superiority: Floats
    inferiority: Floats


class ZRules(NamedTuple):
    """Rules for judging each arm by its z-statistic against the control; thresholds are critical values."""

    n_arms: int
    control: int
    margin: float
    superiority: Floats
    inferiority: Floats
    equivalence: Floats
    futility: Floats


class WealthRules(NamedTuple):
    """Rules for judging each arm by the wealth of bets against "no intention-to-treat effect"."""

    n_arms: int
    control: int
    log_threshold: float  # log(2 / alpha)


Rules = NoRules | PosteriorRules | ControlledPosteriorRules | BeliefRules | ZRules | WealthRules


def needs_beliefs(rules: Rules) -> bool:
    """Return whether these rules need the policy's beliefs as evidence."""
    return isinstance(rules, BeliefRules)


def needs_wealth(rules: Rules) -> bool:
    """Return whether these rules need the wealth of bets as evidence."""
    return isinstance(rules, WealthRules)


@generic
def judge(rules: Any, look: int, evidence: Evidence, status: Any, values: Any) -> int:
    """Decide at a look, counted from 0. Arms with a status other than ACTIVE have been dropped.

    Write the new `status[arm]` and `values[arm * N_VALUES + place]`, and return the reason to stop or GO_ON.
    """
    raise NotImplementedError


@no_inline
def selected_arm(status: Any, values: Any) -> int:
    """Return the superior arm with the strongest evidence; -1 if there is none."""
    best = -1
    for arm in range(status.size):
        if status[arm] == SUPERIOR and (
            best < 0 or values[arm * N_VALUES + BY_SUPERIORITY] > values[best * N_VALUES + BY_SUPERIORITY]
        ):
            best = arm
    return best


@implements(judge, NoRules)
def judge_nothing(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Always go on."""
    clear(values)
    return GO_ON


@implements(judge, WealthRules)
@implements(judge, ZRules)
@implements(judge, ControlledPosteriorRules)
def judge_against_control(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Judge each arm against the control by `status_against_control`."""
    clear(values)
    return compare_with_control(rules, look, evidence, status, values)


@no_inline
def compare_with_control(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Find the status of every remaining arm except the control, and decide on the trial.

    The trial stops if an arm is superior or if only the control is left. In the second case, the reason is the status
    of the first arm dropped at this look.
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
    """Return the status of one arm, and write its values."""
    raise NotImplementedError


@no_inline
def status_of(is_superior: bool, is_inferior: bool, is_equivalent: bool, is_futile: bool) -> int:
    """Return the status for the first condition that is true, or ACTIVE if none is true."""
    if is_superior:
        return SUPERIOR
    if is_inferior:
        return INFERIOR
    if is_equivalent:
        return EQUIVALENT
    return FUTILE if is_futile else ACTIVE


@no_inline
def pick_best(n_left: int, superiority: float, inferiority: float, work: Any, status: Any, values: Any) -> int:
    """Find the superior arm, or drop inferior arms.

    Row RESULT of `work` has the probability that each remaining arm is best, in the order of the arms.
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
    # The best arm is never dropped; it is superior if all others are.
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
    """Store a value that is compared with a threshold, unless the threshold is NaN; return the value."""
    if threshold == threshold:
        values[place] = value
    return value


@no_inline
def clear(values: Any) -> None:
    """Set all values to NaN."""
    for place in range(values.size):
        values[place] = math.nan
