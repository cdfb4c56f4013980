"""What one trial of a design comes to, computed from its patients one by one with Python's own means and SciPy."""

from __future__ import annotations

import math
from statistics import fmean, variance

from scipy import special

from adhere.analysis.fixed_sample.intervals import fieller
from adhere.looks.judge import ACTIVE, EQUIVALENT, GO_ON, INFERIOR, SUPERIOR
from evaluation.made_trials import MadeTrial


class PlainMeasure:
    """Every number of a row, under the name of its part: a function of the trial and of what is true."""

    def __init__(
        self,
        trial: MadeTrial,
        *,
        means: list[float],
        if_taken: list[float],
        complier_effects: list[float],
        control: int | None,
        grid: tuple[int, ...],
        n_looks: int,
    ) -> None:
        self.trial, self.means, self.if_taken, self.control = trial, means, if_taken, control
        self.complier_effects, self.grid, self.n_looks = complier_effects, grid, n_looks
        self.k, self.n = len(means), len(trial.patients)
        self.other = control or 0

    def decision(self) -> list[float]:
        return [float(self.trial.decision == status) for status in range(5)]

    def status(self) -> list[list[float]]:
        return [[float(own == status) for status in range(5)] for own in self.trial.status]

    def _claim(self, arm: int) -> tuple[int, int]:
        """The sign of what is claimed of an arm, and of what is true; 0 for nothing."""
        status = self.trial.status
        if self.control is not None:
            truth = self.means[arm] - self.means[self.control]
            said = {SUPERIOR: 1, INFERIOR: -1}.get(status[arm], 0) if arm != self.control else 0
        else:
            truth = self.means[arm] - max(self.means[one] for one in range(self.k) if one != arm)
            said = int(status[arm] == SUPERIOR or (self.k == 2 and status[1 - arm] == INFERIOR))
        return said, 0 if abs(truth) < 1e-9 else int(math.copysign(1, truth))

    def _claims(self, wanted: object) -> list[float]:
        kinds = []
        for arm in range(self.k):
            said, true = self._claim(arm)
            kinds.append(None if not said else "false" if not true else "right" if said == true else "wrong")
        return [float(kind == wanted) for kind in kinds] + [float(wanted in kinds)]

    def false_claim(self) -> list[float]:
        return self._claims("false")

    def right_claim(self) -> list[float]:
        return self._claims("right")

    def wrong_claim(self) -> list[float]:
        return self._claims("wrong")

    def _left_behind(self) -> int:
        if self.trial.selected >= 0:
            return self.trial.selected
        if self.control is not None:
            return self.control
        left = [arm for arm in range(self.k) if self.trial.status[arm] in (ACTIVE, EQUIVALENT)]
        return max(left, key=lambda arm: (fmean(self._known(arm) or [-1.0]), -arm))

    def _known(self, arm: int) -> list[float]:
        return [one.reward for one in self.trial.patients if one.chosen == arm and one.outcome_known]

    def selected(self) -> list[float]:
        return [float(arm == self._left_behind()) for arm in range(self.k)]

    def selects_best(self) -> float:
        return float(self.means[self._left_behind()] > max(self.means) - 1e-9)

    def n_patients(self) -> list[float]:
        return [self.n, self.n**2, self.n**3]

    def days(self) -> list[float]:
        return [self.trial.days, self.trial.days**2, self.trial.days**3]

    def n_looks_made(self) -> float:
        return self.trial.n_looks

    def chosen(self) -> list[float]:
        return [sum(one.chosen == arm for one in self.trial.patients) for arm in range(self.k)]

    def allocation(self) -> list[float]:
        return [count / self.n for count in self.chosen()]

    def taken(self) -> list[float]:
        return [fmean(one.taken == arm for one in self.trial.patients) for arm in range(self.k)]

    def recommended_inferior(self) -> float:
        return fmean(self.means[one.chosen] < max(self.means) - 1e-9 for one in self.trial.patients)

    def took_inferior(self) -> float:
        return fmean(self.if_taken[one.taken] < max(self.if_taken) - 1e-9 for one in self.trial.patients)

    def outcome(self) -> float:
        return fmean(one.reward for one in self.trial.patients)

    def surplus(self) -> float:
        return sum(self.means[one.chosen] - fmean(self.means) for one in self.trial.patients)

    def realised_surplus(self) -> float:
        return sum(one.reward - fmean(one.would_gain) for one in self.trial.patients)

    def worse_than_randomisation(self) -> float:
        return float(self.surplus() < -1e-9)

    def _ideal(self, means: list[float]) -> float:
        way = max(means) - min(means)
        return 100 * (means[self._left_behind()] - min(means)) / way if way > 1e-9 else 0.0

    def ideal_recommending(self) -> float:
        return self._ideal(self.means)

    def ideal_treating(self) -> float:
        return self._ideal(self.if_taken)

    def over_time(self) -> list[list[float]]:
        firsts = [self.trial.patients[:point] for point in self.grid]
        return [[fmean(one.chosen == arm for one in first) for arm in range(self.k)] for first in firsts]

    def running(self) -> list[float]:
        return [float(self.n >= point) for point in self.grid]

    def stopped(self) -> list[list[float]]:
        rows = []
        for look in range(self.n_looks):
            by_now = self.trial.decision != GO_ON and max(self.trial.status_at) <= look
            rows.append([float(status == (self.trial.decision if by_now else GO_ON)) for status in range(5)])
        return rows

    def estimate(self) -> list[list[list[list[float]]]]:
        arms = range(self.k)
        naive = [[self._welch(arm) for arm in arms], [self._wald(arm) for arm in arms]]
        any_time = [[self._any_time(arm, view) for arm in arms] for view in (0, 1)]
        return [naive, any_time]

    def _effect(self, arm: int, view: int) -> float:
        return self.complier_effects[arm] if view else self.means[arm] - self.means[self.other]

    def _numbers(self, arm: int, view: int, estimate: float | None, covers: bool | None) -> list[float]:
        effect = self._effect(arm, view)
        if arm == self.other or math.isnan(effect):
            return [0.0] * 5
        error = [0.0, 0.0, 0.0] if estimate is None else [1.0, estimate - effect, (estimate - effect) ** 2]
        return [*error, float(covers is not None), float(covers or False)]

    def _welch(self, arm: int) -> list[float]:
        one, other = self._known(arm), self._known(self.other)
        if not one or not other:
            return self._numbers(arm, 0, None, None)
        estimate, covers = fmean(one) - fmean(other), None
        if min(len(one), len(other)) > 1 and variance(one) + variance(other) > 1e-9:
            parts = [variance(group) / len(group) for group in (one, other)]
            sizes = [len(group) - 1 for group in (one, other)]
            freedom = sum(parts) ** 2 / sum(part**2 / size for part, size in zip(parts, sizes, strict=True))
            reach = float(special.stdtrit(freedom, 0.975)) * math.sqrt(sum(parts))
            covers = abs(estimate - self._effect(arm, 0)) <= reach
        return self._numbers(arm, 0, estimate, covers)

    def _wald(self, arm: int) -> list[float]:
        whole = [one for one in self.trial.patients if one.outcome_known and one.taken_known]
        groups = [[one for one in whole if one.chosen == own] for own in (arm, self.other)]
        if arm == self.other or not all(groups):
            return self._numbers(arm, 1, None, None)
        rewards = [[one.reward for one in group] for group in groups]
        takes = [[float(one.taken == arm) for one in group] for group in groups]
        numerator, denominator = (fmean(pair[0]) - fmean(pair[1]) for pair in (rewards, takes))
        estimate = None if denominator == 0 else max(-1.0, min(1.0, numerator / denominator))
        covers = None
        if min(map(len, groups)) > 1:
            of_reward, of_takes, of_both = (
                sum(_covariance(x, y) / len(x) for x, y in zip(first, second, strict=True))
                for first, second in ((rewards, rewards), (takes, takes), (rewards, takes))
            )
            theta = self._effect(arm, 1)
            if of_reward - 2 * theta * of_both + theta**2 * of_takes > 1e-9:
                covers = theta in fieller(numerator, denominator, of_reward, of_takes, of_both)
        return self._numbers(arm, 1, estimate, covers)

    def _any_time(self, arm: int, view: int) -> list[float]:
        estimate, covers = self.trial.estimate[arm][view], self.trial.covers[arm][view]
        if math.isnan(estimate):
            return self._numbers(arm, view, None, None)
        return self._numbers(arm, view, estimate, covers == 1.0)


def _covariance(x: list[float], y: list[float]) -> float:
    return sum((a - fmean(x)) * (b - fmean(y)) for a, b in zip(x, y, strict=True)) / (len(x) - 1)
