"""Drift of outcomes under an adaptive allocation: seen, said, and what it makes invalid withheld."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adhere.analysis.adaptive.outcome_drift import drift_p_value
from adhere.analysis.analyse import analyse_records
from adhere.analysis.output.effect_rows import effect_rows
from adhere.analysis.records import Records


def trial(drift: float, n: int = 800, seed: int = 1, adaptive: bool = True) -> Records:
    """Half of the patients take what they are assigned; new comes to be given more often, and does nothing."""
    rng = np.random.default_rng(seed)
    late = np.arange(n) / n
    pi = np.where(adaptive, 0.5 + 0.45 * late, 0.5)
    chosen = (rng.random(n) < pi).astype(np.int64)
    kind = rng.integers(4, size=n)
    taken = np.where(kind < 2, chosen, kind - 2)
    reward = (rng.random(n) < 0.25 + drift * late).astype(np.float64)
    return Records("t", "a test", ("old", "new"), chosen, taken, reward, probabilities=np.stack([1 - pi, pi], axis=1))


def test_drift_withholds_what_takes_late_patients_as_like_the_early_ones() -> None:
    analysis = analyse_records(trial(0.5))
    assert analysis.outcomes_drifted
    rows = {row.label: row.holds for row in effect_rows(analysis, "new", "old")}
    assert rows["bounds, without monotonicity"] == "withheld: outcomes drifted"
    assert rows["intention-to-treat, confidence sequence"].startswith("any-time valid")
    assert "drifted" in analysis.strata.reason
    assert analysis.mediation.refuted is None
    assert any(one.startswith("Outcomes changed over time") for one in analysis.warnings)
    said = " ".join(analysis.verdict)
    assert "fared differently" not in said
    assert "Do not rely on as-treated and per-protocol: outcomes drifted over time" in said
    assert "withheld, as outcomes drifted" in " ".join(analysis.summary().split()).lower()


def test_a_fixed_allocation_needs_no_such_thing() -> None:
    analysis = analyse_records(trial(0.5, adaptive=False))
    assert not analysis.outcomes_drifted
    assert analysis.strata.shares


def test_without_drift_little_is_withheld() -> None:
    values = [drift_p_value(trial(0.0, n=300, seed=seed)) for seed in range(200)]
    assert sum(value is not None and value < 0.01 for value in values) <= 7  # of 200 at 1%: P(8 or more) = 0.001
    assert drift_p_value(trial(0.5, n=15)) is None


def test_a_bend_is_seen_too() -> None:
    records = trial(0.0, n=1000)
    wave = np.abs(np.arange(1000) / 500 - 1.0)
    rng = np.random.default_rng(3)

    p = drift_p_value(replace(records, reward=(rng.random(1000) < 0.2 + 0.5 * wave).astype(float)))
    assert p is not None
    assert p < 1e-6
