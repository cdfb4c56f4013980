"""Confidence sequences as records come: in pieces, with late reports, and what cannot be used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adhere.analysis.adaptive import running_bets
from adhere.analysis.adaptive.confidence_sequence import (
    ConfidenceSequence,
    RunningSequence,
)
from adhere.analysis.estimates import View
from adhere.analysis.records import NEVER, Records
from adhere.errors import InputError

from .adaptive_trial import adaptive_trial, known_by

EXACT = (View.INTENTION_TO_TREAT, View.COMPLIERS)


@pytest.mark.parametrize("view", EXACT)
def test_records_revised_give_the_same_bits_as_at_once(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """More decisions, late reports, corrections of the first outcome and at a checkpoint, and one taken back."""
    monkeypatch.setattr(running_bets, "_CHECKPOINT_EVERY", 64)
    records = adaptive_trial(5, 400, delay=40, missing=0.02)
    assert records.seen is not None
    revised, last = RunningSequence(1, 0, view), None
    for end in (1, 150, 151, 400):
        kept = np.arange(len(records)) < end
        last = _revised(revised, last, known_by(records, int(records.seen[end - 1])).where(kept), view)
    last = _revised(revised, last, records, view)
    for entry, value in ((0, None), (200, None), (63, np.nan), (64, None)):
        reward, places = records.reward.copy(), np.array(records.reward_at)
        reward[entry] = 1.0 - reward[entry] if value is None else value
        places[entry] = NEVER if np.isnan(reward[entry]) else places[entry]
        records = replace(records, reward=reward, reward_at=places)
        last = _revised(revised, last, records, view)


def _revised(running: RunningSequence, last: Records | None, records: Records, view: View) -> Records:
    """Revise by what is the same as the last time, and compare with a sequence that is new."""
    n_same = 0
    if last is not None:
        columns = ((one.reward, one.actual, one.reward_at, one.actual_at) for one in (last, records))
        pairs = zip(*columns, strict=True)
        same = [np.equal(old, new[: len(old)]) | ((old != old) & (new != new)[: len(old)]) for old, new in pairs]
        n_same = int(np.append(np.all(same, axis=0), False).argmin())
    running.revise(records, n_same)
    new = RunningSequence(1, 0, view)
    new.update(records)
    assert_same(running.sequence(), new.sequence())
    return records


@pytest.mark.parametrize("view", EXACT)
def test_records_in_pieces_give_the_same_bits_as_at_once(view: View) -> None:
    """Outcomes come when they come: what is pending enters at its worst case until it is told."""
    records = adaptive_trial(5, 700, delay=40, missing=0.02)
    assert records.seen is not None
    assert records.reward_at is not None
    assert records.actual_at is not None
    whole, pieces = RunningSequence(1, 0, view), RunningSequence(1, 0, view)
    whole.update(records)
    told = -1
    for start, end in ((0, 1), (1, 2), (2, 300), (300, 301), (301, 556), (556, 700)):
        place = int(records.seen[end - 1])
        for at, entry, is_reward in sorted(
            (int(at), entry, is_reward)
            for is_reward, places in ((True, records.reward_at), (False, records.actual_at))
            for entry, at in enumerate(places[:start].tolist())
            if told < at <= place
        ):
            if is_reward:
                pieces.report(entry, reward=float(records.reward[entry]), at=at)
            else:
                pieces.report(entry, actual=int(records.actual[entry]), at=at)
        told = place
        kept = np.zeros(len(records), dtype=np.bool_)
        kept[start:end] = True
        pieces.update(known_by(records, place).where(kept))
        so_far = RunningSequence(1, 0, view)
        kept[:end] = True
        so_far.update(known_by(records, place).where(kept))
        assert_same(pieces.sequence(), so_far.sequence())
    for entry in np.flatnonzero((records.reward_at > told) & (records.reward_at < NEVER)).tolist():
        pieces.report(entry, reward=float(records.reward[entry]), at=int(records.reward_at[entry]))
    for entry in np.flatnonzero((records.actual_at > told) & (records.actual_at < NEVER)).tolist():
        pieces.report(entry, actual=int(records.actual[entry]), at=int(records.actual_at[entry]))
    assert_same(pieces.sequence(), whole.sequence())


def assert_same(one: ConfidenceSequence, other: ConfidenceSequence) -> None:
    for name, value in vars(one).items():
        assert np.array_equal(value, getattr(other, name)), name


def test_a_lost_patient_does_not_hold_up_the_rest_and_reports_are_checked() -> None:
    records = adaptive_trial(2, 60, missing=0.0, delay=0)
    plain = replace(
        records, seen=None, reward_at=None, actual_at=None, reward=np.where(np.arange(60) == 5, np.nan, 1.0)
    )
    lost = RunningSequence(1, 0)
    lost.update(replace(plain, lost=np.isnan(plain.reward)))
    assert lost.sequence().n_pending == 1
    with pytest.raises(InputError, match="entry: got 5, expected a decision whose outcome is not known yet"):
        lost.report(5, reward=1.0)
    with pytest.raises(InputError, match="entry: got 60, expected the number of an earlier decision, from 0 to 59"):
        lost.report(60, reward=1.0)
    waiting = RunningSequence(1, 0)
    waiting.update(plain)
    assert_same(waiting.sequence(), lost.sequence())
    waiting.report(5, reward=1.0)
    assert waiting.sequence().n_pending == 0
    with_places = RunningSequence(1, 0)
    with_places.update(records)
    with pytest.raises(InputError, match="at: got None, expected the place in the log"):
        with_places.report(0, reward=1.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"view": View.AS_TREATED}, "view: got 'as-treated', expected intention-to-treat or compliers"),
        ({"level": 1.0}, "level: got 1.0, expected a number between 0 and 1"),
        ({"n_grid": 2}, "n_grid: got 2, expected a whole number from 3 to 100,001"),
    ],
)
def test_what_cannot_be_used_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RunningSequence(1, 0, **wrong)


def test_a_report_of_a_third_arm_changes_nothing() -> None:
    records = adaptive_trial(0, 60, (0.2, 0.5, 0.8))
    running = RunningSequence(1, 0, n_grid=11)
    running.update(records)
    before = running.sequence()
    running.report(int(np.flatnonzero(records.chosen == 2)[-1]), reward=1.0, at=10**6)
    assert_same(running.sequence(), before)
