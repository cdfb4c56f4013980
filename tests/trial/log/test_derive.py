"""One recommendation derived again by itself comes out as replay, which goes through all of them, has it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from adhere.errors import UnknownError
from adhere.trial.domain.events import AnyEvent, Recommended
from adhere.trial.log.derive import How, derive_again
from adhere.trial.log.replay import replay

from ..live import SECRET, UNKNOWN_ID, Live, log_of, number_of

STRATA = ("young", "old")
DESIGNS: dict[str, dict[str, Any]] = {
    "corrected": {"policy": "thompson/actual"},
    "recycling": {"policy": "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)", "n_patients": 40},
    "imputed": {"policy": "thompson", "impute": {"after_days": 2, "reward": 0}},
    "looks and strata": {
        "policy": "burn-in(uniform, patients=4)",
        "n_patients": 40,
        "strata": STRATA,
        "looks": {"at": [4, 8]},
        "update": "at looks",
    },
}


def played(**design: Any) -> Live:
    """A trial with reports that come late, in parts, corrected, retracted or imputed, between recommendations."""
    live = Live(**design)
    for n in range(14):
        live.clock.pass_days(1)
        live.impute_missing()
        made = live.recommend(f"s{n}", stratum=STRATA[n % 2] if live.design.strata else None).recommendation_id
        if n % 4 != 3:
            live.report(made, actual=live.design.arms[n % 2], reward=float(n % 3 == 0))
        if n % 5 == 4:
            live.correct(n - 2, reward=1.0)
            live.correct(0, retract=("reward",))
            live.report(0, reward=1.0)
        if n == 9:
            live.report(3, reward=1.0)
    live.report(7, took_nothing=True, reward=1.0)
    live.correct(1, actual=live.design.arms[0], reward=1.0)
    return live


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_each_is_derived_from_the_log_as_it_stood(design: dict[str, Any]) -> None:
    live = played(**design)
    with live.store.reading() as view:
        trial = number_of(view)
        assert replay(view, trial).difference is None
        found = [derive_again(view, trial, live.id_of(index)) for index in range(14)]
    assert [one.comparison.difference for one in found] == [None] * 14
    assert {one.comparison.how for one in found} == {How.DERIVED}


@pytest.mark.parametrize("field", ["chosen", "probabilities", "memo", "learned_up_to", "epoch"])
def test_one_that_was_logged_otherwise_is_found_out(field: str) -> None:
    def change(event: AnyEvent) -> AnyEvent:
        if not isinstance(event, Recommended) or event.recommendation_index != 7:
            return event
        other = {"chosen": 1 - event.chosen, "probabilities": (0.4, 0.6), "memo": (0.5,)}
        other |= {"learned_up_to": 1, "epoch": "another", "recommendation_index": 8}
        return msgspec.structs.replace(event, **{field: other[field]})

    live = played(policy="thompson/actual")
    with log_of(map(change, live.events()), SECRET) as (view, trial):
        assert derive_again(view, trial, live.id_of(7)).comparison.difference is not None
        assert derive_again(view, trial, live.id_of(6)).comparison.difference is None


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_without_the_secret_probabilities_are_derived_and_arms_are_not(design: dict[str, Any]) -> None:
    def change(event: AnyEvent) -> AnyEvent:
        if not isinstance(event, Recommended) or event.recommendation_index != 7:
            return event
        return msgspec.structs.replace(event, probabilities=event.probabilities[::-1])

    live = played(**design)
    with log_of(live.events()) as (view, trial):
        found = [derive_again(view, trial, live.id_of(index)).comparison for index in range(14)]
    assert [one.difference for one in found] == [None] * 14
    assert {(one.how, one.arm) for one in found} == {(How.BY_LOG, None)}
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert [tuple(one.probabilities) for one in found] == [pytest.approx(event.probabilities) for event in made]
    with log_of(map(change, live.events())) as (view, trial):
        wrong = derive_again(view, trial, live.id_of(7)).comparison.difference
    assert (wrong is not None) == (made[7].probabilities != made[7].probabilities[::-1])


def test_a_record_before_it_that_was_changed_is_named() -> None:
    live = played(policy="thompson/actual")
    with live.store.writing() as writing:
        writing.run("UPDATE records SET hash = ? WHERE position = 4", (bytes(32),))
    with live.store.reading() as view:
        assert derive_again(view, number_of(view), live.id_of(0)).comparison.difference is None
        found = derive_again(view, number_of(view), live.id_of(9)).comparison
        assert found.how is How.NOT
        assert str(found.difference).startswith("the log was changed, record 4: its hash does not match")
        with pytest.raises(UnknownError, match="recommendation"):
            derive_again(view, number_of(view), UNKNOWN_ID)
