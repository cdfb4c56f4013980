"""What a look at a trial decides: rules compared with evidence.

`look_rules.look_rules` makes the rules of a design, and `look_judges` has the `judge` of each kind. It is compiled in
simulated trials on processors and GPUs, and run as Python by a live trial. A kernel gathers the evidence that its
rules need: it has generic functions of its own, whose default does nothing, with implementations for `BeliefRules` or
`WealthRules` (`compilation.generic_with_default`, `compilation.implements`), so that what is not needed is not
compiled.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import generic, no_inline
from adhere.looks.posterior import N_ROWS

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
