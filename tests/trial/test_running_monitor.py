"""The monitor of a trial that goes on, against an analysis of its log and against a monitor that is new."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

import adhere
from adhere.analysis import Analysis, View
from adhere.design.make_design import make_design
from adhere.errors import InputError
from adhere.store import Store
from adhere.store.sqlite import SqliteStore
from adhere.trial.domain.commands import Correct, MarkInError, Recommend, Report, Withdraw
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.log.records import trial_records
from adhere.trial.monitoring.running_monitor import RunningMonitor
from adhere.trial.writing.processor import CommandProcessor
from adhere_client.responses.monitor import Effect, Monitor

from .live import SECRET

ARMS = ("walk", "aspirin")


@dataclass
class Patients:
    """A trial, and patients of whom the better half takes aspirin whatever they are told."""

    options: dict[str, Any]
    store: Store = field(default_factory=lambda: SqliteStore(None))
    n: int = 0
    rng: random.Random = field(default_factory=lambda: random.Random(4))

    def __post_init__(self) -> None:
        self.processor = CommandProcessor(self.store)
        self.processor.create(make_design("watched", arms=ARMS, **self.options), secret=SECRET)

    def do(self, command: Any, **fields: Any) -> Any:
        self.n += 1
        made = command(trial="watched", request_id=str(self.n), by="a test", **fields)
        (response,) = self.processor.execute([made])
        assert not isinstance(response, Exception), response
        return response

    def come(self, n: int, reports: float = 0.9) -> None:
        for _ in range(n):
            given = self.do(Recommend, subject=f"S-{self.n}", site="A")
            rich = self.rng.random() < 0.5
            if self.rng.random() < reports:
                actual = "aspirin" if rich else given.arm
                reward = float(self.rng.random() < (0.9 if rich else 0.1))
                self.do(Report, recommendation_id=given.recommendation_id, actual=actual, reward=reward)

    def about(self, index: int, command: Any, **fields: Any) -> None:
        """Send a command about a recommendation, which is named by its ID."""
        with self.store.reading() as view:
            made = decode(view.histories(self.processor.trial("watched").number, [index])[index][0])
        assert isinstance(made, Recommended)
        self.do(command, recommendation_id=made.recommendation_id, **fields)

    def monitor(self, running: RunningMonitor | None = None) -> Monitor:
        with self.store.reading() as view:
            return (running or self.new()).update(view)

    def new(self) -> RunningMonitor:
        return RunningMonitor(self.processor.trial("watched"))


@pytest.fixture
def patients() -> Patients:
    return Patients({"policy": "thompson"})


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_the_numbers_are_those_of_an_analysis_of_the_log(lower_is_better: bool) -> None:
    patients = Patients({"policy": "thompson", "lower_is_better": lower_is_better})
    patients.come(400)
    found = patients.monitor()
    live = patients.processor.trial("watched")
    with patients.store.reading() as view:
        analysis = adhere.analyse(trial_records(view, live.number, live.design), redraws=0)
    assert (found.head, found.recommendations) == (analysis.head, analysis.n_patients)
    assert found.lower_is_better == analysis.lower_is_better == lower_is_better
    assert found.outcomes == analysis.flow.total.outcome_known
    assert found.waiting == sum(arm.not_reported for arm in analysis.flow.arms) > 0
    assert [row.took for row in found.arms] == [
        {arm.arm: arm.took_it, **arm.took_others} for arm in analysis.flow.arms
    ]
    assert found.warnings == list(analysis.warnings)
    check = analysis.allocation
    assert check is not None
    assert found.allocation_check is not None
    assert found.allocation_check.log_e == check.log_e
    _compare_effects(found.effects, analysis)
    # The better half takes aspirin in any case: believing what was taken would mislead.
    assert found.taken.depends
    assert found.taken.sentence == analysis.mediation.sentence


def _compare_effects(found: list[Effect], analysis: Analysis) -> None:
    exact = [one for one in found if one.is_any_time_valid]
    assert [(one.view, one.estimate.value, one.estimate.low, one.estimate.high) for one in exact] == [
        (one.view.value, one.estimate, one.final.low, one.final.high) for one in analysis.sequences
    ]
    assert [(one.t, one.low, one.high) for one in exact] == [
        (one.t.tolist(), one.low.tolist(), one.high.tolist()) for one in analysis.sequences
    ]
    others = {one.view: one.difference for one in analysis.effects.comparisons}
    for one in found[len(exact) :]:
        wanted = others[View(one.view)]
        assert one.estimate.value == wanted.value
        assert one.estimate.low == wanted.sets[0].low


def test_what_is_new_is_read_and_what_was_corrected_is_played_again(
    patients: Patients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adhere.analysis.adaptive.running_bets._CHECKPOINT_EVERY", 32)
    running = patients.new()
    for step in (
        "none",
        "some",
        "more",
        "late",
        "corrected",
        "retracted",
        "withdrawn",
        "returned",
        "in error",
        "after",
        "unchanged",
    ):
        if step in ("some", "more"):
            patients.come(150, reports=0.8)
        if step == "late":
            waiting = next(n for n in range(300) if _is_waiting(patients, n))
            patients.about(waiting, Report, actual="walk", reward=1.0)
        if step == "corrected":
            patients.about(0, Correct, reward=0.0, reason="read again")
            patients.about(0, Correct, reward=1.0, reason="and again")
        if step == "retracted":
            patients.about(7, Correct, retract=("reward",), reason="of another patient")
        if step == "withdrawn":
            patients.about(7, Withdraw, reason="moved away")
        if step == "returned":
            patients.about(7, Correct, retract=("withdrawal",), reason="came to a visit")
            patients.about(7, Report, reward=0.0)
        if step == "in error":
            patients.about(3, Correct, retract=("actual", "reward"), reason="the wrong patient")
            patients.about(3, MarkInError, reason="the wrong patient")
        if step == "after":
            patients.about(5, Correct, reward=1.0, reason="read again")
            patients.come(2)
        assert patients.monitor(running) == patients.monitor(), step


def _is_waiting(patients: Patients, number: int) -> bool:
    with patients.store.reading() as view:
        found = view.histories(patients.processor.trial("watched").number, [number])
    return len(found[number]) == 1


def test_the_surplus_of_equal_probabilities_is_nothing() -> None:
    patients = Patients({"policy": "uniform"})
    patients.come(60)
    surplus = patients.monitor().surplus
    assert surplus is not None
    assert (surplus.total.value, surplus.total.low, surplus.total.high) == (0.0, 0.0, 0.0)


def test_what_thompson_sampling_believes_and_the_next_look_would_compare() -> None:
    design = {
        "policy": "thompson",
        "n_patients": 400,
        "looks": {"at": [50, 200]},
        "stopping": {"by": "posterior", "superiority": 0.99999},
    }
    patients = Patients(design)
    patients.come(100, reports=1.0)
    found = patients.monitor()
    rows = {row.arm: row for row in found.arms}
    for one in found.beliefs.posteriors:
        assert one.of == "assigned"
        assert one.alpha + one.beta == rows[one.arm].outcomes + 2
        assert one.low < one.mean < one.high
    assert math.isclose(sum(found.beliefs.probabilities.values()), 1.0)
    assert [look.outcomes for look in found.looks] == [50]
    present = found.present
    assert present is not None
    assert (present.look, present.outcomes, present.due_at) == (2, 100, 200)
    best = {arm.arm: next(iter(arm.values.values())) for arm in present.arms}
    assert best == pytest.approx(found.beliefs.probabilities, abs=1e-5)  # both by Beta(1 + S, 1 + F)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Monitor) == found


def test_before_the_first_patient(patients: Patients) -> None:
    found = patients.monitor()
    assert (found.recommendations, found.waiting, found.at, found.allocation.t) == (0, 0, None, [])
    assert "There are no patients" in found.warnings[0]
    with pytest.raises(InputError):
        patients.processor.trial("another")
