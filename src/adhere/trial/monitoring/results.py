"""Interim results of a trial by three analysis sets: intention-to-treat, as-treated, per-protocol."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import msgspec

from adhere.analysis.fixed_sample.means import ArmMean, View, arm_means
from adhere.design.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.design.design import Design
from adhere.intervals import RewardSums, wilson
from adhere.store import ReadTransaction
from adhere.trial.domain.due_looks import next_probabilities
from adhere.trial.domain.events import decode
from adhere.trial.domain.history import History, history_of
from adhere.trial.policy.engine import Engine
from adhere.trial.writing.projection import read_state

NOTE = (
    "Arms were chosen by what had been learned before, which biases plain means: an arm that did badly by bad luck "
    "is tried less and cannot recover. Intervals are those of fixed allocation; 'adhere analyse' has some that hold."
)
_IMPUTED = " Values that the trial's rule for missing reports assumes are included (see imputed_parts)."
ANALYSIS_SETS = (View.INTENTION_TO_TREAT, View.AS_TREATED, View.PER_PROTOCOL)
_BATCH = 1000
_MAX_CACHED = 32


class ArmEstimate(msgspec.Struct, frozen=True):
    """A mean reward and its 95% interval; without rewards there is no mean, and the interval is 0 to 1."""

    arm: str
    n: int
    mean: float | None
    low: float
    high: float


class Compliance(msgspec.Struct, frozen=True):
    """What was taken where an arm was chosen, and the share of those reported who took it, with its 95% interval."""

    chosen: str
    took: dict[str, int]
    took_nothing: int
    took_other: int
    unknown: int
    share: float | None
    low: float
    high: float


class Results(msgspec.Struct, frozen=True, omit_defaults=True):
    """A trial's results: what became of its recommendations, and estimates for three analysis sets.

    Each is complete (reported in full), waiting, lost to follow-up or entered in error; no estimate counts the last.
    """

    trial: str
    head: str
    records: int
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    imputed_parts: int
    fallbacks: int
    refused_updates: int
    intention_to_treat: list[ArmEstimate]
    as_treated: list[ArmEstimate]
    per_protocol: list[ArmEstimate]
    compliance: list[Compliance]
    probabilities: dict[str, float]
    note: str
    entered_in_error: int = 0
    rehearsal: bool = False
    lower_is_better: bool = False


@dataclass
class _Tally:
    """Everything counted in one pass; its size depends on the number of arms alone."""

    arms: tuple[str, ...]
    complete: int = 0
    waiting: int = 0
    lost: int = 0
    in_error: int = 0
    imputed: int = 0
    fallbacks: int = 0
    refused: int = 0
    views: dict[View, list[RewardSums]] = field(init=False)
    taken: list[dict[int | None, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.views = {view: [RewardSums() for _ in self.arms] for view in ANALYSIS_SETS}
        self.taken = [{} for _ in self.arms]

    def add(self, history: History) -> None:
        if history.in_error:
            self.in_error += 1
            return
        self.lost += history.withdrawn
        self.waiting += history.is_open
        self.complete += not history.withdrawn and not history.is_open
        self.imputed += sum(part is not None and part.imputed for part in (history.actual, history.reward))
        self.fallbacks += bool(history.fallback)
        self.refused += len(history.refused)
        actual = None if history.actual is None else int(history.actual.value)
        row = self.taken[history.chosen]
        row[actual] = row.get(actual, 0) + 1
        if history.reward is None:
            return
        self.views[View.INTENTION_TO_TREAT][history.chosen].add(history.reward.value)
        if actual is not None and actual >= 0:
            self.views[View.AS_TREATED][actual].add(history.reward.value)
        if actual == history.chosen:
            self.views[View.PER_PROTOCOL][history.chosen].add(history.reward.value)

    def estimates(self, view: View) -> list[ArmEstimate]:
        return [_estimate(one) for one in arm_means(view, self.arms, self.views[view])]

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


def _estimate(one: ArmMean) -> ArmEstimate:
    low, high = (one.mean.sets[0].low, one.mean.sets[0].high) if one.mean.sets else (0.0, 1.0)
    return ArmEstimate(one.arm, one.mean.n, one.mean.value, low, high)


def results_of(view: ReadTransaction, trial: int, design: Design, engine: Engine) -> Results:
    """Count all recommendations, some at a time."""
    head, state = view.head(trial), read_state(view, trial, design, engine)
    tally = _Tally(design.arms)
    for first in range(0, state.n_recommendations, _BATCH):
        ids = range(first, min(first + _BATCH, state.n_recommendations))
        for bodies in view.histories(trial, ids).values():
            tally.add(history_of(map(decode, bodies)))
    return Results(
        trial=design.name,
        head=head.hash.hex(),
        records=head.position,
        recommendations=state.n_recommendations,
        complete=tally.complete,
        waiting=tally.waiting,
        lost_to_follow_up=tally.lost,
        entered_in_error=tally.in_error,
        imputed_parts=tally.imputed,
        fallbacks=tally.fallbacks,
        refused_updates=tally.refused,
        intention_to_treat=tally.estimates(View.INTENTION_TO_TREAT),
        as_treated=tally.estimates(View.AS_TREATED),
        per_protocol=tally.estimates(View.PER_PROTOCOL),
        compliance=[tally.compliance(chosen) for chosen in range(len(design.arms))],
        probabilities=dict(zip(design.arms, next_probabilities(state), strict=True)),
        rehearsal=design.rehearsal,
        lower_is_better=design.lower_is_better,
        note=NOTE + _IMPUTED * bool(tally.imputed),
    )


class ResultsCache:
    """The results of recently requested trials, each for as long as its log does not grow."""

    def __init__(self) -> None:
        self._cached: OrderedDict[int, Results] = OrderedDict()

    def get(self, trial: int, head: str) -> Results | None:
        """A trial's results, if they are known as of this head."""
        cached = self._cached.get(trial)
        return cached if cached is not None and cached.head == head else None

    def put(self, trial: int, results: Results) -> None:
        """Keep a trial's results."""
        self._cached[trial] = results
        while len(self._cached) > _MAX_CACHED:
            self._cached.popitem(last=False)
