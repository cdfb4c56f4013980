"""Which pairs of arms have a confidence sequence, and what is said where there is none or one that learns little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adhere.analysis.adaptive.confidence_sequence import (
    RunningSequence,
    confidence_sequences,
    why_no_compliers,
    why_not,
)
from adhere.analysis.estimates import View
from adhere.analysis.records import NOT_KNOWN, Records

from .adaptive_trial import adaptive_trial

EXACT = (View.INTENTION_TO_TREAT, View.COMPLIERS)


def test_every_pair_of_arms_has_a_sequence_and_compliers_where_nobody_took_a_third() -> None:
    records = adaptive_trial(0, 200, (0.2, 0.5, 0.8), cross=0.0)
    taken = [(one.view, one.treatment, one.control) for one in confidence_sequences(records, n_grid=11)]
    pairs = [("arm 1", "arm 0"), ("arm 2", "arm 0"), ("arm 2", "arm 1")]
    assert taken == [(view, *pair) for pair in pairs for view in EXACT]
    entry = int(np.flatnonzero(records.chosen == 0)[0])
    crossed = replace(records, actual=np.where(np.arange(200) == entry, 2, records.actual))
    found = confidence_sequences(crossed, n_grid=11)
    assert [(one.view, one.treatment, one.control) for one in found] == [
        (View.INTENTION_TO_TREAT, "arm 1", "arm 0"),
        (View.INTENTION_TO_TREAT, "arm 2", "arm 0"),
        (View.COMPLIERS, "arm 2", "arm 0"),
        (View.INTENTION_TO_TREAT, "arm 2", "arm 1"),
        (View.COMPLIERS, "arm 2", "arm 1"),
    ]
    assert "some took a third arm" in why_no_compliers(crossed, 1, 0)
    assert "some took a third arm" in found[0].note
    assert "third arm" not in found[1].note


def test_refusals_say_why() -> None:
    records = adaptive_trial(0, 50)
    assert why_not(records) == ""
    everyone, some = np.ones(50, dtype=np.bool_), np.arange(50) < 20
    assert "Without the probability" in why_not(replace(records, probabilities=None))
    assert "estimated" in why_not(replace(records, estimated=everyone))
    assert "order" in why_not(replace(records, count=np.full(50, 2)))
    assert confidence_sequences(replace(records, estimated=everyone)) == ()
    partly = confidence_sequences(replace(records, estimated=some), n_grid=11)[0]
    assert partly.n_used + partly.n_pending == 30
    assert "20 patients left out: no exact probabilities" in partly.note
    assert "nobody reported what was taken" in why_no_compliers(replace(records, actual=np.full(50, NOT_KNOWN)), 1, 0)


def test_a_deterministic_policy_and_an_empty_trial_teach_nothing() -> None:
    chosen = np.arange(40) % 2
    sure = np.eye(2)[chosen]
    records = Records("a", "b", ("x", "y"), chosen, chosen, chosen.astype(np.float64), probabilities=sure)
    for given in (records, records.where(np.zeros(40, dtype=np.bool_))):
        running = RunningSequence(1, 0)
        running.update(given)
        sequence = running.sequence()
        assert (sequence.final.low, sequence.final.high, sequence.estimate) == (-1.0, 1.0, None)
        assert (sequence.log_wealth_at_zero, sequence.p_value) == (0.0, 1.0)
    full = confidence_sequences(records)[0]
    assert "without a floor on the allocation no method learns much" in full.note
    assert "40 decisions between the two arms can tell as much as 0 allocated half and half" in full.note


def test_permuted_blocks_are_not_taken_for_an_allocation_without_a_floor() -> None:
    chosen = np.array([0, 1, 1, 0] * 10)
    in_blocks = np.array([[1 / 2, 1 / 2], [1 / 3, 2 / 3], [1 / 2, 1 / 2], [1.0, 0.0]] * 10)
    records = Records("a", "b", ("x", "y"), chosen, chosen, chosen.astype(np.float64), probabilities=in_blocks)
    note = confidence_sequences(records, n_grid=11)[0].note
    assert "floor" not in note
    assert "At 10 of 40 decisions between the two arms one of them had no probability" in note
    assert "all of them together can tell as much as 29 allocated half and half" in note
    tiny = np.where(np.arange(40)[:, None] < 39, in_blocks, [0.999, 0.001])
    note = confidence_sequences(replace(records, probabilities=tiny), n_grid=11)[0].note
    assert "The probability of an arm fell to 0.001: without a floor" in note
