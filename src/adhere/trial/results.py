"""What a trial has found so far, in the three views of ICH E9(R1), from its log."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import msgspec

from adhere.intervals import mean_interval, wilson
from adhere.store.contract import Reading
from adhere.trial.case import TOOK_NOTHING, TOOK_OTHER, Case
from adhere.trial.design import Design
from adhere.trial.events import Recommended, case_of, decode
from adhere.trial.fold import decode_standing, standing_of, state_from

NOTE = (
    "Arms were chosen by what had been learned before, which biases plain means: an arm that did badly by bad luck "
    "is tried less and has no chance to recover. Intervals are those of fixed allocation. Values counted under the "
    "trial's rule for missing reports are included (see imputed_parts)."
)
_AT_ONCE = 1000
_MOST_KEPT = 32


class Estimate(msgspec.Struct, frozen=True):
    """A mean reward and its 95% interval; without any reward there is none, and it may be anything from 0 to 1."""

    arm: str
    n: int
    mean: float | None
    low: float
    high: float


class Compliance(msgspec.Struct, frozen=True):
    """What was taken where an arm was chosen, and the share of the known who took it, with its 95% interval."""

    chosen: str
    actual: dict[str, int]
    nothing: int
    other: int
    unknown: int
    share: float | None
    low: float
    high: float


class Results(msgspec.Struct, frozen=True):
    """A trial's results: recommendations are reported in full, open or withdrawn; estimates in three views."""

    trial: str
    head: str
    records: int
    recommendations: int
    reported: int
    open: int
    withdrawn: int
    imputed_parts: int
    fallbacks: int
    intention_to_treat: list[Estimate]
    as_treated: list[Estimate]
    per_protocol: list[Estimate]
    compliance: list[Compliance]
    probabilities: dict[str, float]
    note: str = NOTE


@dataclass
class _Sums:
    """Rewards of one arm in one view."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    binary: bool = True

    def add(self, reward: float) -> None:
        self.n += 1
        self.total += reward
        self.squares += reward * reward
        self.binary = self.binary and reward in (0.0, 1.0)

    def estimate(self, arm: str) -> Estimate:
        if not self.n:
            return Estimate(arm, 0, None, 0.0, 1.0)
        mean = self.total / self.n
        if self.binary:
            return Estimate(arm, self.n, mean, *wilson(self.total, self.n))
        variance = max(0.0, self.squares - self.n * mean * mean) / max(1, self.n - 1)
        return Estimate(arm, self.n, mean, *mean_interval(mean, variance, self.n))


@dataclass
class _Tally:
    """Everything counted on the way through the log; its size depends on the number of arms alone."""

    arms: tuple[str, ...]
    reported: int = 0
    open: int = 0
    withdrawn: int = 0
    imputed: int = 0
    fallbacks: int = 0
    views: tuple[list[_Sums], list[_Sums], list[_Sums]] = field(init=False)
    taken: list[dict[int | None, int]] = field(init=False)

    def __post_init__(self) -> None:
        by_chosen, by_actual, agreed = ([_Sums() for _ in self.arms] for _ in range(3))
        self.views = by_chosen, by_actual, agreed
        self.taken = [{} for _ in self.arms]

    def add(self, case: Case, fallback: str) -> None:
        self.withdrawn += case.withdrawn
        self.open += case.is_open
        self.reported += not case.withdrawn and not case.is_open
        self.imputed += sum(part is not None and part.imputed for part in (case.actual, case.reward))
        self.fallbacks += bool(fallback)
        actual = None if case.actual is None else int(case.actual.value)
        row = self.taken[case.chosen]
        row[actual] = row.get(actual, 0) + 1
        if case.reward is None:
            return
        self.views[0][case.chosen].add(case.reward.value)
        if actual is not None and actual >= 0:
            self.views[1][actual].add(case.reward.value)
        if actual == case.chosen:
            self.views[2][case.chosen].add(case.reward.value)

    def estimates(self, view: int) -> list[Estimate]:
        return [sums.estimate(arm) for arm, sums in zip(self.arms, self.views[view], strict=True)]

    def compliance(self, chosen: int) -> Compliance:
        row = self.taken[chosen]
        known = sum(count for actual, count in row.items() if actual is not None)
        agreed = row.get(chosen, 0)
        low, high = wilson(agreed, known) if known else (0.0, 1.0)
        return Compliance(
            self.arms[chosen],
            {arm: row.get(number, 0) for number, arm in enumerate(self.arms)},
            row.get(TOOK_NOTHING, 0),
            row.get(TOOK_OTHER, 0),
            row.get(None, 0),
            agreed / known if known else None,
            low,
            high,
        )


def results_of(view: Reading, trial: int, design: Design) -> Results:
    """Go through all recommendations, some at a time."""
    head = view.head(trial)
    engine, standing = design.engine(), decode_standing(head.snapshot)
    if standing is None or standing.law != engine.law:
        standing = standing_of(view, trial, engine, head.position)
    tally = _Tally(design.arms)
    for first in range(0, standing.decisions, _AT_ONCE):
        some = range(first, min(first + _AT_ONCE, standing.decisions))
        for bodies in view.cases(trial, some).values():
            events = [decode(body) for body in bodies]
            assert isinstance(events[0], Recommended)
            tally.add(case_of(events), events[0].fallback)
    next_one = engine.decide_or_fall_back(state_from(standing.state), standing.decisions)
    return Results(
        trial=design.name,
        head=head.hash.hex(),
        records=head.position,
        recommendations=standing.decisions,
        reported=tally.reported,
        open=tally.open,
        withdrawn=tally.withdrawn,
        imputed_parts=tally.imputed,
        fallbacks=tally.fallbacks,
        intention_to_treat=tally.estimates(0),
        as_treated=tally.estimates(1),
        per_protocol=tally.estimates(2),
        compliance=[tally.compliance(chosen) for chosen in range(len(design.arms))],
        probabilities=dict(zip(design.arms, next_one.probabilities, strict=True)),
    )


class ResultsCache:
    """The results of the trials asked for lately, each as long as its log does not grow."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Results] = OrderedDict()

    def of(self, view: Reading, trial: int, design: Design) -> Results:
        """A trial's results as of the view."""
        kept = self._kept.get(trial)
        if kept is None or kept.head != view.head(trial).hash.hex():
            kept = self._kept[trial] = results_of(view, trial, design)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept
