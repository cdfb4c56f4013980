"""Compute the monitor of one trial incrementally: records that were read and analysed are not processed again."""

from dataclasses import replace
from typing import TypeAlias

from msgspec import convert

from adhere.analysis.adaptive.confidence_sequence import (
    ConfidenceSequence,
    RunningSequence,
    why_no_compliers,
    why_not,
)
from adhere.analysis.adaptive.surplus import surplus, surplus_level
from adhere.analysis.analyse import analyse_running, as_benefit, check_options
from adhere.analysis.estimates import View
from adhere.analysis.records import Records
from adhere.design.planned_looks import planned_looks
from adhere.store import ReadTransaction
from adhere.trial.domain.due_looks import next_probabilities
from adhere.trial.domain.state import TrialState
from adhere.trial.log.look_view import logged_looks
from adhere.trial.log.records import RunningRecords
from adhere.trial.monitoring.analysis_views import (
    MAX_POINTS,
    allocation_check_view,
    allocation_over_time,
    assigned_rows,
    effect_views,
    present_values,
    quantity_view,
    surplus_view,
    taken_view,
)
from adhere.trial.monitoring.policy_beliefs import beliefs_in
from adhere.trial.writing.running_state import read_state
from adhere.trial.writing.transaction import LiveTrial
from adhere_client.responses.monitor import (
    Beliefs,
    Monitor,
    OddsOfMediation,
    Posterior,
    SurplusOverTime,
    Weights,
)
from adhere_client.responses.trials import Look

_Key: TypeAlias = tuple[int, View, float]  # the arm compared with control, the view, the level
LEVEL, MARGIN = 0.95, 0.05  # the defaults of `adhere analyse`


class RunningMonitor:
    """The monitor of a trial, cached between refreshes. After a failure, create a new instance."""

    def __init__(self, live: LiveTrial) -> None:
        check_options(LEVEL, MARGIN)
        self._live = live
        self._records = RunningRecords(live.number, live.design)
        self._sequences: dict[_Key, RunningSequence] = {}

    def update(self, view: ReadTransaction) -> Monitor:
        """Return the monitor at the head of the log."""
        live = self._live
        renewed = self._records.update(view)
        records = as_benefit(renewed.records, live.design.lower_is_better)
        state, head = read_state(view, live.number, live.design, live.engine), view.head(live.number)
        sequences = self._played(records, renewed.n_same)
        analysis = analyse_running(
            records, sequences, level=LEVEL, margin=MARGIN, lower_is_better=live.design.lower_is_better
        )
        total = analysis.flow.total
        return Monitor(
            trial=live.design.name,
            status=state.status,
            head=head.hash.hex(),
            records=head.position,
            at=renewed.last_at,
            n_patients=live.design.n_patients,
            level=LEVEL,
            recommendations=len(records),
            outcomes=total.outcome_known,
            waiting=state.counts.pending,
            lost_to_follow_up=0 if records.lost is None else int(records.lost.sum()),
            compliance=quantity_view(total.compliance),
            arms=assigned_rows(analysis),
            adaptive=analysis.adaptive,
            effects=effect_views(analysis),
            why_no_sequences=analysis.why_no_sequences,
            taken=taken_view(analysis.mediation),
            surplus=self._surplus(records, sequences, renewed.n_same),
            allocation=allocation_over_time(records, renewed.at),
            allocation_check=allocation_check_view(analysis.allocation),
            beliefs=_believed(state),
            looks=convert(logged_looks(view, live.number, live.design), list[Look], from_attributes=True),
            planned_looks=planned_looks(live.design),
            present=present_values(state),
            warnings=list(analysis.warnings),
            lower_is_better=analysis.lower_is_better,
        )

    def _played(self, records: Records, n_same: int) -> tuple[ConfidenceSequence, ...]:
        """Return the confidence sequences of every arm compared with the control, equal to those of
        `confidence_sequences`.
        """
        if why_not(records):
            self._sequences = {}
            return ()
        played = []
        for arm in _others(records):
            no_compliers = why_no_compliers(records, arm, records.control)
            for view in [View.INTENTION_TO_TREAT] + [View.COMPLIERS] * (not no_compliers):
                sequence = self._revised(records, (arm, view, LEVEL), n_same)
                played.append(replace(sequence, note=f"{sequence.note} {no_compliers}".strip()))
            if no_compliers:
                self._sequences.pop((arm, View.COMPLIERS, LEVEL), None)
        return tuple(played)

    def _revised(self, records: Records, key: _Key, n_same: int) -> ConfidenceSequence:
        arm, view, level = key
        if key not in self._sequences:
            self._sequences[key], n_same = RunningSequence(arm, records.control, view, level), 0
        self._sequences[key].revise(records, n_same)
        return self._sequences[key].sequence(MAX_POINTS)

    def _surplus(
        self, records: Records, sequences: tuple[ConfidenceSequence, ...], n_same: int
    ) -> SurplusOverTime | None:
        if not sequences:
            return None
        level = surplus_level(LEVEL, records.n_arms)
        own = [one for one in sequences if one.view is View.INTENTION_TO_TREAT]
        if level != LEVEL:  # with more than two arms, all effects must be right at once
            own = [self._revised(records, (arm, View.INTENTION_TO_TREAT, level), n_same) for arm in _others(records)]
        return surplus_view(surplus(records, own, LEVEL))


def _others(records: Records) -> list[int]:
    return [arm for arm in range(records.n_arms) if arm != records.control]


def _believed(state: TrialState) -> Beliefs:
    probabilities = dict(zip(state.design.arms, next_probabilities(state), strict=True))  # this loads the policy
    found = beliefs_in(state)
    return Beliefs(
        probabilities,
        posteriors=[one for one in found if isinstance(one, Posterior)],
        weights=[one for one in found if isinstance(one, Weights)],
        mediation=[one for one in found if isinstance(one, OddsOfMediation)],
    )
