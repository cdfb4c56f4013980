"""adaptr's published example (its README, version 1.4.0): three arms alike, full compliance, frozen allocation.

There, 1,000 trials: superior 4.8%, equivalent 38.1%, at their largest size 57.1%, 1749.6 patients (SD 373.7). The
first was the minimum of its calibration on fixed seeds; 24,000 independent trials gave 5.8%, 37.4%, 56.8% and 1750.
An undesirable event with a rate of 0.25 is here a success with a rate of 0.75.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from adhere.design.design import Design
from adhere.design.parts import Delay, Looks, Stopping
from adhere.looks.judge import EQUIVALENT, GO_ON, SUPERIOR

from .trials import compliers, play

POPULATION = compliers(0.75, 0.75, 0.75)
DESIGN = Design(
    "adaptr",
    "floor(thompson, share=0.2, rule=clip)",
    POPULATION.arms,
    2000,
    update="at looks",
    looks=Looks(at=tuple(range(300, 2001, 100))),
    delay=Delay(100.0),  # at a patient a day: 100 more are randomised at each look but the last
    stopping=Stopping("posterior", superiority=0.9814, inferiority="1 - superiority", equivalence=0.9, margin=0.05),
)
N_TRIALS = 1500


@pytest.mark.slow
def test_the_published_characteristics() -> None:
    found = play(DESIGN, POPULATION, N_TRIALS, seed=1)
    shares = {decision: float((found.decision == decision).mean()) for decision in (SUPERIOR, EQUIVALENT, GO_ON)}
    for decision, published in ((SUPERIOR, 0.058), (EQUIVALENT, 0.374), (GO_ON, 0.568)):
        error = math.sqrt(published * (1.0 - published) * (1.0 / N_TRIALS + 1.0 / 24_000))
        assert abs(shares[decision] - published) < 4.0 * error
    assert abs(found.n_patients.mean() - 1750.0) < 4.0 * 373.7 / math.sqrt(N_TRIALS)
    assert 340.0 < found.n_patients.std() < 410.0
    # 100 more than those with outcomes are randomised at a look, until all are.
    stopped = found.n_looks < 18
    assert (found.n_patients[stopped] == np.minimum(2000, 300 + 100 * found.n_looks[stopped])).all()
