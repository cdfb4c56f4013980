"""Draw trials of an adaptive design, with late and lost outcomes, and report every interval and test of their
analysis.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adhere.analysis.adaptive.aipw import aipw
from adhere.analysis.adaptive.allocation_check import allocation_check
from adhere.analysis.adaptive.confidence_sequence import confidence_sequences
from adhere.analysis.adaptive.policy_play import Allocator, Schedule
from adhere.analysis.adaptive.randomisation_test import LoggedAllocation, randomisation_tests
from adhere.analysis.estimates import View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.records import NEVER, NOT_KNOWN, Floats, Ints, Records
from adhere.randomness import stream_keys
from adhere.studies.coverage.fixed_trials import (
    ALPHA,
    DIFFERENCE,
    NO_EFFECT,
    comparison_truths,
    of_quantity,
    trust_reports,
)
from adhere.studies.coverage.people import ARMS, People
from adhere.studies.coverage.tally import Alarm, Interval, Reported, Test

DELAY = 30  # number of patients after which an outcome is known
_MAX_TRIALS = 2**20  # per chunk: the runs of the next chunk have other keys


class AdaptiveTrial(NamedTuple):
    """A trial as its log records it, and the data needed to redraw its allocation."""

    records: Records
    logged: LoggedAllocation


@dataclass(frozen=True)
class AdaptiveTrials:
    """Trials of a given size under one policy."""

    who: People
    policy: str
    n_patients: int

    def drawn(self, seed: int, chunk: int, n_trials: int) -> Iterator[AdaptiveTrial]:
        """Yield the trials of a chunk as their logs record them."""
        name = zlib.crc32(f"{self.who.name}, {self.policy}, {self.n_patients}".encode())
        rng = np.random.default_rng([seed, name, chunk])
        keys = stream_keys((seed << 32 | name) % 2**64, chunk * _MAX_TRIALS, n_trials)
        actual, reward = self._patients(rng, n_trials)
        delays = np.where(rng.random((n_trials, self.n_patients)) < self.who.lost, NEVER, DELAY)
        schedule = Schedule.delayed(delays)
        played = Allocator(self.policy, len(ARMS), schedule).play(actual, reward, keys)
        seen, actual_at, reward_at = map(np.atleast_2d, schedule.places())
        everybody = np.arange(self.n_patients)
        for run in range(n_trials):
            chosen, came = played.chosen[run], delays[run] < NEVER
            gained = reward[run, everybody, chosen]
            outcome = np.where(came, gained, np.nan)
            records = Records(
                self.who.name, self.policy, ARMS, chosen,
                np.where(came, actual[run, everybody, chosen], NOT_KNOWN), outcome,
                probabilities=played.probabilities[run], seen=seen[run], actual_at=actual_at[run],
                reward_at=reward_at[run],
            )  # fmt: skip
            order = Schedule(self.n_patients, schedule.steps[run : run + 1])
            yield AdaptiveTrial(
                records,
                LoggedAllocation(
                    ARMS,
                    self.policy,
                    self.n_patients,
                    (0.0, 1.0),
                    keys[run : run + 1],
                    order,
                    chosen,
                    gained,
                    outcome,
                ),
            )

    def _patients(self, rng: np.random.Generator, n_trials: int) -> tuple[Ints, Floats]:
        """Return the arm that each patient would take, and the reward, under each arm, by [trial, patient, arm]."""
        ((_, population),) = self.who.groups
        types = population.types
        which = rng.choice(len(types), (n_trials, self.n_patients), p=[one.probability for one in types])
        takes = np.array([one.takes for one in types])[which]
        means = np.array([one.reward for one in types], dtype=np.float64)[which]
        # One draw for both arms: where their means are equal, no outcome depends on the arm taken.
        gains = (rng.random((*means.shape[:2], 1)) < means).astype(np.float64)
        return takes, np.take_along_axis(gains, takes, axis=2)


SEQUENCE, AIPW, NAIVE = "confidence sequence", "AIPW", "fixed-sample"
AS_LOGGED = "arms were drawn as logged"


def adaptive_reports(records: Records, who: People) -> Iterator[Reported | Alarm]:
    """Report confidence sequences at the end (right there only if always right), and the other estimates."""
    for sequence in confidence_sequences(records):
        truth = _true_difference(sequence.view, who)
        named = Interval(sequence.view.value, DIFFERENCE, SEQUENCE, sequence.final.validity.value, True)
        yield Reported(named, truth, sequence.final)
        if sequence.view is View.INTENTION_TO_TREAT:
            yield Alarm(Test(f"{SEQUENCE}, at any time", NO_EFFECT, who.is_null, True), sequence.p_value <= ALPHA)
    for estimate in aipw(records):
        truth = _true_difference(estimate.view, who)
        yield from of_quantity(estimate.view.value, DIFFERENCE, estimate.difference, truth, False)
    for compared in effects(records).comparisons:
        truth = _true_difference(compared.view, who)
        for one in of_quantity(compared.view.value, DIFFERENCE, compared.difference, truth, False):
            yield one._replace(interval=one.interval._replace(method=f"{NAIVE}, {one.interval.method}"))
        if compared.view is View.INTENTION_TO_TREAT and compared.p_value is not None:
            yield Alarm(Test(f"{NAIVE} test", NO_EFFECT, who.is_null, False), compared.p_value <= ALPHA)
    yield from trust_reports(records, who, adaptive=True)
    check = allocation_check(records)
    yield Alarm(Test("allocation check", AS_LOGGED, True, True), check.rejected if check else None)


def _true_difference(view: View, who: People) -> float:
    """Return the true difference of a view. Every population here has compliers."""
    truth = comparison_truths(view, who)[DIFFERENCE]
    assert truth is not None
    return truth


def redrawn_reports(logged: LoggedAllocation, who: People, n_redraws: int, seed: int) -> Iterator[Alarm]:
    """Report whether the test rejects the hypothesis that no outcome depends on the arm recommended."""
    (found,) = randomisation_tests(logged, n_redraws=n_redraws, seed=seed)
    test = Test("randomisation test by replay", NO_EFFECT, who.is_null, True)
    yield Alarm(test, None if found.p_value is None else found.p_value <= ALPHA)
