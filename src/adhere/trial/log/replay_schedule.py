"""The schedule of recommendations and rewards in a log, in the order in which the policy saw them. The replay test
redraws arms by this schedule.

The schedule has the rewards that the policy knew at each recommendation. A reward may change after the policy used
it: it is corrected, or a reported value replaces an imputed one. The policy then learns all rewards again from the
beginning, and the schedule repeats them. The treatments taken are not recorded, because only policies that ignore
them can be redrawn.
"""

from collections.abc import Iterable

import numpy as np

from adhere.analysis.adaptive.policy_play import Schedule
from adhere.analysis.adaptive.policy_play_kernel import ALLOCATED, FALL_BACK, FORGET, RECOMMEND, REWARD
from adhere.analysis.adaptive.randomisation_test import LoggedAllocation
from adhere.compilation.kernel import without_garbage_collection
from adhere.design.design import Design
from adhere.errors import UnknownPolicyError
from adhere.looks.judge import ACTIVE, GO_ON
from adhere.randomness import Words, stream_keys
from adhere.store import ReadTransaction
from adhere.trial.domain.events import (
    AnyEvent,
    Corrected,
    Created,
    EnteredInError,
    EpochBegun,
    Imputed,
    Looked,
    Recommended,
    Reported,
    UpdateRefused,
    decode,
)
from adhere.trial.domain.evolve import evolve
from adhere.trial.domain.history import History
from adhere.trial.domain.log_records import walk
from adhere.trial.domain.state import NoPolicy, TrialState, initial_state

_MAX_STEPS = 1_000_000  # more steps are allowed only if the log has many events


def logged_allocation(view: ReadTransaction, trial: int) -> LoggedAllocation:
    """Return how the arms of a stored trial were drawn, and when its policy learned each reward."""
    return allocation_of(decode(record.body) for record in walk(view, trial))


def allocation_of(events: Iterable[AnyEvent]) -> LoggedAllocation:
    """Return the logged allocation of a trial from all its events in order."""
    steps = _Steps()
    with without_garbage_collection():
        for event in events:
            steps.add(event)
    return steps.allocation()


class _Steps:
    """The steps of a schedule, built event by event."""

    def __init__(self) -> None:
        self._design: Design
        self._version, self._recycles = "", False
        self._keys: Words | None = None
        self._n_changing = 0  # number of recommendations that change the policy's state before any report
        self._steps: list[tuple[int, int, int]] = []
        self._rewards: list[float] = []  # every value ever reported, as the policy learns it
        self._state: TrialState
        self._probabilities: list[tuple[float, ...]] = []
        self._updates: dict[int, tuple[int, int]] = {}  # patient and row of each reward, by place
        self._is_outdated = False  # whether an update that the policy had learned has changed
        self._n_events = 0
        self._reason = ""

    def add(self, event: AnyEvent) -> None:
        """Add one more event."""
        self._n_events += 1
        if isinstance(event, Created):
            self._begin(event)
        elif isinstance(event, EpochBegun):
            self._keys = None
        elif isinstance(event, Recommended):
            self._recommend(event)
        elif isinstance(event, Looked):
            if event.decision == GO_ON and any(status != ACTIVE for status in event.status):
                self._refuse("an arm was dropped at a look, which is not redrawn")
        elif isinstance(event, UpdateRefused):
            self._refuse("the policy failed at a report, and what it would do under another allocation is not known")
        before = self._state
        self._state = evolve(before, event)
        if isinstance(event, Reported | Imputed | Corrected | EnteredInError):
            index = event.recommendation_index
            self._learn(before.histories[index], self._state.histories[index])

    def allocation(self) -> LoggedAllocation:
        """Return the schedule and the outcomes of all events so far."""
        design, histories = self._design, self._histories()
        n = len(histories)
        steps = np.array(self._steps, np.int32).reshape(1, -1, 3)
        outcome = np.array([np.nan if one.reward is None else one.reward.value for one in histories])
        schedule = Schedule(n, steps)
        rewards = np.full(max(n, len(self._rewards)), np.nan)
        rewards[: len(self._rewards)] = self._rewards
        return LoggedAllocation(
            arms=design.arms,
            policy=design.policy,
            horizon=design.n_patients,
            reward_values=tuple(sorted(map(self._benefit, design.reward_values))),
            keys=self._keys,
            schedule=schedule,
            chosen=np.array([one.chosen for one in histories], np.int64),
            reward=rewards[: schedule.n_rows],
            outcome=outcome.astype(float),
            reason=self._reason,
            probabilities=np.array(self._probabilities, float).reshape(n, len(design.arms)),
        )

    def _benefit(self, reward: float) -> float:
        return 1.0 - reward if self._design.lower_is_better else reward

    def _refuse(self, reason: str) -> None:
        self._reason = self._reason or reason

    def _histories(self) -> list[History]:
        return [self._state.histories[index] for index in range(self._state.n_recommendations)]

    def _begin(self, created: Created) -> None:
        design = self._design = created.design
        self._state = initial_state(design, NoPolicy(created.keys()))
        self._keys = None if created.seed is None else stream_keys(created.seed, 0, 1)
        if design.strata or design.update == "at looks":
            self._refuse("arms were drawn by shares that the design prescribes, which are not redrawn")
        try:
            engine = created.recorded_engine()
        except UnknownPolicyError as error:
            self._refuse(str(error))
            return
        self._version, self._recycles = engine.algorithm_version, engine.recycles
        self._n_changing = engine.n_changing

    def _recommend(self, event: Recommended) -> None:
        if event.imported:
            self._refuse("recommendations were imported from a table, not drawn by this trial's policy")
        elif event.fallback:
            self._learn_again()
            self._steps.append((event.recommendation_index, FALL_BACK, 0))
        elif self._version and event.algorithm_version != self._version:
            self._refuse("recommendations were made by another version of the policy than this one")
        else:
            self._learn_again()
            self._steps.append((event.recommendation_index, RECOMMEND, 0))
        is_whole = bool(event.probabilities) and not event.fallback
        self._probabilities.append(event.probabilities if is_whole else (np.nan,) * len(self._design.arms))

    def _learn(self, before: History, after: History) -> None:
        """Record how a report changes the rewards that the policy learns. Fallbacks are left out."""
        if after.fallback or before.reward == after.reward:
            return
        old, new, patient = before.reward, after.reward, after.recommendation_index
        if old is not None and new is not None and (old.value, old.place) == (new.value, new.place):
            return
        if old is not None:
            del self._updates[old.place]
            self._is_outdated = True
        if new is not None:
            self._updates[new.place] = (patient, len(self._rewards))
            if not self._is_outdated:
                self._steps.append((patient, REWARD, len(self._rewards)))
            self._rewards.append(self._benefit(new.value))

    def _learn_again(self) -> None:
        """Before a recommendation, repeat all updates in the order of their places if one of them has changed."""
        if not self._is_outdated:
            return
        if self._recycles:
            self._refuse("reports were corrected, and the policy recycles outcomes, which is not redrawn")
        if len(self._steps) + len(self._updates) > max(_MAX_STEPS, 10 * self._n_events):
            self._refuse("so many reports were corrected that learning again after each would take too long")
        if not self._reason:
            self._steps.append((0, FORGET, 0))
            made = [one.recommendation_index for one in self._histories() if not one.fallback]
            self._steps += [(number, ALLOCATED, 0) for number in made if number < self._n_changing]
            self._steps += [(patient, REWARD, row) for _, (patient, row) in sorted(self._updates.items())]
        self._is_outdated = False
