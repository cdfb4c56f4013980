from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from scipy import stats

from adhere.design.make_design import make_design
from adhere.design.parts import Imputation
from adhere.intervals import mean_interval, wilson
from adhere.store import open_store
from adhere.trial.domain.commands import Correct, ImputeMissing, Recommend, RecommendationResponse, Report, Withdraw
from adhere.trial.monitoring.results import ArmEstimate, Results, results_of
from adhere.trial.writing.processor import CommandProcessor, utc_now

from .live import SECRET, send

ARMS = ("walk", "aspirin")


class Clock:
    """A time that moves when told to."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


def trial_of(
    reports: Sequence[dict[str, Any]], clock: Callable[[], datetime] = utc_now, **options: Any
) -> tuple[CommandProcessor, list[str], list[str]]:
    """A trial in which each subject has one recommendation and one report; returns it, the arms and the IDs."""
    processor = CommandProcessor(open_store(), clock)
    processor.create(make_design("t", "uniform", ARMS, **options), secret=SECRET)
    chosen, ids = [], []
    for number, report in enumerate(reports):
        advice = send(processor, Recommend(trial="t", request_id=f"q{number}", subject=f"S-{number}"))
        assert isinstance(advice, RecommendationResponse)
        chosen.append(str(advice.arm))
        ids.append(advice.recommendation_id)
        if report:
            said: dict[str, Any] = {
                name: chosen[-1] if value == "chosen" else value for name, value in report.items()
            }
            send(processor, Report(trial="t", request_id=f"r{number}", recommendation_id=ids[-1], **said))
    return processor, chosen, ids


def results(processor: CommandProcessor) -> Results:
    live = processor.trial("t")
    with processor.store.reading() as view:
        return results_of(view, live.number, live.design, live.engine)


def test_three_views_of_the_same_records() -> None:
    rng = np.random.default_rng(1)
    reports: list[dict[str, Any]] = [
        {"actual": ARMS[rng.integers(2)], "reward": float(rng.integers(2))} for _ in range(60)
    ]
    processor, chosen, _ = trial_of(reports)
    found = results(processor)
    rows = [(arm, *report.values()) for arm, report in zip(chosen, reports, strict=True)]
    views: tuple[tuple[list[ArmEstimate], Callable[[Any], str | None]], ...] = (
        (found.intention_to_treat, lambda row: row[0]),
        (found.as_treated, lambda row: row[1]),
        (found.per_protocol, lambda row: row[0] if row[0] == row[1] else None),
    )
    for estimates, arm_of in views:
        for estimate in estimates:
            rewards = [row[2] for row in rows if arm_of(row) == estimate.arm]
            assert estimate.n == len(rewards)
            assert estimate.mean == pytest.approx(np.mean(rewards))
            expected = stats.binomtest(int(sum(rewards)), len(rewards)).proportion_ci(method="wilson")
            assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    for line in found.compliance:
        assert line.took == {arm: sum(row[:2] == (line.chosen, arm) for row in rows) for arm in ARMS}
        assert line.share == line.took[line.chosen] / sum(line.took.values())
        assert line.low < line.share < line.high
    assert found.probabilities == {"walk": 0.5, "aspirin": 0.5}
    assert (found.recommendations, found.complete, found.waiting) == (60, 60, 0)


def test_rewards_between_0_and_1_have_students_interval() -> None:
    rewards = [0.1, 0.5, 0.9, 0.4, 1.0, 0.0, 0.3]
    processor, *_ = trial_of([{"actual": "walk", "reward": reward} for reward in rewards])
    found = results(processor).as_treated[0]
    low, high = stats.t.interval(0.95, len(rewards) - 1, np.mean(rewards), stats.sem(rewards))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    assert results(processor).as_treated[1].mean is None


def test_what_is_missing_or_unusual_is_counted_apart() -> None:
    whole = {"actual": "chosen", "reward": 1.0}
    processor, _, ids = trial_of([{}, {"reward": 1.0}, {"took_nothing": True}, {"took_other": "tea"}, whole])
    send(processor, Withdraw(trial="t", request_id="w", recommendation_id=ids[0], reason="moved"))
    found = results(processor)
    assert (found.recommendations, found.complete, found.waiting, found.lost_to_follow_up) == (5, 1, 3, 1)
    sums = {
        name: sum(getattr(line, name) for line in found.compliance)
        for name in ("took_nothing", "took_other", "unknown")
    }
    assert sums == {"took_nothing": 1, "took_other": 1, "unknown": 2}
    assert sum(estimate.n for estimate in found.intention_to_treat) == 2
    assert sum(estimate.n for estimate in found.as_treated) == 1
    assert all(0.0 <= estimate.low <= estimate.high <= 1.0 for estimate in found.per_protocol)


def test_corrections_count_and_imputed_parts_are_told() -> None:
    clock, rule = Clock(), Imputation(after_days=7, reward=0.0)
    processor, _, ids = trial_of([{"actual": "walk", "reward": 1.0}, {"actual": "walk"}], clock, impute=rule)
    send(processor, Correct(trial="t", request_id="c", recommendation_id=ids[0], reward=0.0, reason="a slip"))
    clock.time += timedelta(days=8)
    send(processor, ImputeMissing(trial="t", request_id=""))
    found = results(processor)
    assert found.imputed_parts == 1
    assert (found.as_treated[0].n, found.as_treated[0].mean) == (2, 0.0)
    assert "biased" in found.note
    assert "rule for missing reports" in found.note  # and only where it was applied
    assert "rule for missing reports" not in results(trial_of([{"actual": "walk", "reward": 1.0}])[0]).note


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 50), (17, 40), (40, 40)])
def test_wilson_is_wilsons(successes: int, n: int) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_single_number_says_nothing() -> None:
    assert mean_interval(0.5, 0.0, 1) == (0.0, 1.0)
    assert mean_interval(0.99, 0.04, 4) == pytest.approx((0.99 - 3.182446 * 0.1, 1.0), abs=1e-5)
