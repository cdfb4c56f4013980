"""The patients of a design in plain Python: when they come, of which stratum, and what is heard of them when."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from adhere.design.design import Design
from adhere.design.parts import Rate
from adhere.randomness import DELAY, MISSING, stream, uniforms


def in_steps(days: float) -> float:
    """Days that were drawn by a logarithm, to 2^-20 of a day."""
    return math.floor(days * 2.0**20 + 0.5) / 2.0**20


class Heard(NamedTuple):
    """What will be heard of a patient, and when: None where it never is."""

    reward: float
    due: float | None
    taken: int | None
    taken_due: float | None


class World:
    """When a patient comes, of which stratum, and what is heard of them when."""

    def __init__(self, design: Design, seed: int, run: int) -> None:
        self._design, self._keys = design, stream(seed, run)[None, :2]

    def draw(self, purpose: np.uint64, number: int, draw: int) -> float:
        return float(uniforms(self._keys, np.array([number]), purpose, draw)[0, 0])

    def day(self, number: int, before: float) -> float:
        enrolment = self._design.enrolment
        if enrolment.days:
            return enrolment.days[number] - enrolment.days[0]
        if not enrolment.random:
            return number / enrolment.per_day
        if number == 0:
            return 0.0
        return before + in_steps(-math.log(1.0 - self.draw(DELAY, number, 1)) / enrolment.per_day)

    def stratum(self, number: int) -> str | None:
        strata = self._design.strata
        return strata[int(len(strata) * self.draw(DELAY, number, 2))] if strata else None

    def delay(self, number: int, arm: str) -> float:
        delay, u = self._design.delay, self.draw(DELAY, number, 0)
        days = delay.by_arm.get(arm, delay.days)
        return {"fixed": days, "uniform": 2.0 * days * u, "exponential": in_steps(-days * math.log(1.0 - u))}[
            delay.distribution
        ]

    def is_missing(self, number: int, rate: Rate, draw: int, arm: str, stratum: str | None, reward: float) -> bool:
        share = rate.by_arm.get(arm, rate.rate)
        share = rate.by_stratum.get(stratum or "", share)
        after = rate.after_success if reward >= 0.5 else rate.after_failure
        return self.draw(MISSING, number, draw) < (share if after is None else after)

    def heard(self, number: int, day: float, stratum: str | None, chosen: int, actual: int, reward: float) -> Heard:
        design, arm = self._design, self._design.arms[chosen]
        impute, missing = design.impute, design.missing
        due, told, taken = day + self.delay(number, arm), reward, actual
        if self.is_missing(number, missing.outcome, 0, arm, stratum, reward):
            if impute is None or impute.reward is None:
                return Heard(reward, None, None, None)
            due, told = day + impute.after_days, float(impute.reward)
        if not self.is_missing(number, missing.taken, 1, arm, stratum, reward):
            return Heard(told, due, taken, due)
        if impute is None or (impute.actual is None and not impute.took_nothing):
            return Heard(told, due, None, None)
        assumed = -1 if impute.actual is None else design.arms.index(impute.actual)
        return Heard(told, due, assumed, max(due, day + impute.after_days))
