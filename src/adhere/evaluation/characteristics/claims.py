"""What simulated trials claim about arms, whether it is true, and which arm they leave behind as the one to use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adhere.evaluation.characteristics.outcomes import Floats, Ints, TrialOutcomes
from adhere.evaluation.scenarios.truth import SAME, Bools
from adhere.looks.judge import ACTIVE, EQUIVALENT, INFERIOR, SUPERIOR


class Claims(NamedTuple):
    """Claims about intention-to-treat, [run, arm].

    With a control an arm is claimed to differ from it where its status is superior or inferior. Without one an arm is
    claimed to be better than all others where it is superior; of two arms also where the other is inferior.
    """

    false: Bools  # of a difference where there is none
    right: Bools  # in the direction of the true difference
    wrong: Bools  # in the other direction


def claims(status: Ints, means: Floats, control: int | None) -> Claims:
    """Claims by the final status [run, arm] where the true means given chosen are [1 or run, arm]."""
    up, down = status == SUPERIOR, status == INFERIOR
    if control is None:
        if status.shape[1] == 2:
            up = up | down[:, ::-1]
        down = np.zeros_like(up)
    else:
        up, down = up.copy(), down.copy()
        up[:, control] = down[:, control] = False
    difference = differences(means, control)
    better, worse = difference > SAME, difference < -SAME
    return Claims((up | down) & ~better & ~worse, up & better | down & worse, up & worse | down & better)


def differences(means: Floats, control: int | None) -> Floats:
    """By how much recommending each arm is better than the control or, without one, than the best other arm."""
    if control is not None:
        return means - means[:, [control]]
    others = np.repeat(means[:, None, :], means.shape[1], axis=1)
    others[:, np.arange(means.shape[1]), np.arange(means.shape[1])] = -np.inf
    gained: Floats = means - others.max(axis=2)
    return gained


def selected_arms(outcomes: TrialOutcomes, control: int | None) -> Ints:
    """The arm each trial leaves behind as the one to use, [run].

    It is the arm found superior. Where none was, it is the control, or without one, of the arms that were not
    dropped, the one with the highest mean of known outcomes by the arm chosen (the first of them if tied).
    """
    if control is not None:
        return np.where(outcomes.superior_arm >= 0, outcomes.superior_arm, control)
    n, sums = outcomes.n.sum(axis=2), outcomes.sums.sum(axis=2)
    means = np.where(n > 0, sums / np.maximum(n, 1), -1.0)
    is_left = (outcomes.status == ACTIVE) | (outcomes.status == EQUIVALENT)
    best_left = np.where(is_left, means, -2.0).argmax(axis=1)
    return np.where(outcomes.superior_arm >= 0, outcomes.superior_arm, best_left)
