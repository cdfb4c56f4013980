"""What a live trial assumes where nothing was heard, and what it hides where arms may not be known."""

from __future__ import annotations

from typing import Any

import pytest

from adhere.design.parts import Imputation
from adhere.errors import ConflictError, InputError
from adhere.trial.domain.commands import ImputeMissing, Receipt, Recommend, RecommendationResponse, Report, Unblind
from adhere.trial.domain.events import Recommended, Reported
from adhere.trial.log.replay import replay
from adhere.trial.writing.running_state import Projection

from .live import ARMS, Live


def test_a_missing_report_is_imputed_by_the_rule_only_and_undone_by_the_truth() -> None:
    rule = Imputation(after_days=14, took_nothing=True, reward=0.0)
    live, silent = Live("thompson", impute=rule), Live("thompson")
    for trial in (live, silent):
        trial.recommend("heard of")
        trial.recommend("never heard of")
        trial.report(0, actual="walk", reward=1.0)
        trial.clock.pass_days(13.9)
        trial.impute_missing()
        assert trial.kinds().count("Imputed") == 0
        trial.clock.pass_days(0.1)  # to the very moment
        trial.impute_missing()
        trial.impute_missing()
    assert silent.kinds().count("Imputed") == 0
    assert live.kinds().count("Imputed") == 1
    assert live.snapshot().policy_state != silent.snapshot().policy_state
    for trial in (live, silent):
        trial.report(1, actual="aspirin", reward=1.0)
    assert live.snapshot().policy_state == silent.snapshot().policy_state


def test_a_blinded_trial_tells_kits() -> None:
    live = Live(blinded=True)
    kits = [live.recommend(f"s{n}").kit for n in range(20)]
    assert len(set(kits)) == 20
    live.report(3, actual=kits[3], reward=1.0)
    live.report(4, actual=kits[5], reward=0.0)  # somebody else's kit
    arms = {event.recommendation_index: event.chosen for event in live.events() if isinstance(event, Recommended)}
    taken = [event.actual for event in live.events() if isinstance(event, Reported)]
    assert taken == [arms[3], arms[5]]
    for wrong in ("walk", "AAAA-AAAA", "nonsense"):
        with pytest.raises(InputError, match="the code of a kit") as refused:
            live.report(6, actual=wrong)
        assert "aspirin" not in str(refused.value)
    with pytest.raises(ConflictError) as conflict:
        live.report(3, actual=kits[next(n for n in range(20) if arms[n] != arms[3])])
    assert not any(arm in str(conflict.value) for arm in ARMS)
    twin = kits[next(n for n in range(4, 20) if arms[n] == arms[3])]
    with pytest.raises(ConflictError) as same_arm:  # or kits could be sorted by trying which are taken for the same
        live.report(3, actual=twin)
    assert str(same_arm.value) == str(conflict.value)
    live.report(7, actual=kits[7], request_id="r7")
    for other in (next(n for n in range(20) if n != 7 and (arms[n] == arms[7]) == same) for same in (True, False)):
        with pytest.raises(ConflictError, match="was used before for another request"):
            live.report(7, actual=kits[other], request_id="r7")
    told = live.send(Unblind(trial="t", request_id="u", kit=str(kits[3]).lower(), reason="emergency"))
    assert told.arm == ARMS[arms[3]]  # type: ignore[union-attr]
    assert live.kinds()[-1] == "Unblinded"


def arm_of(live: Live, recommendation_id: str) -> int:
    made = [event for event in live.events() if isinstance(event, Recommended)]
    return next(event.chosen for event in made if event.recommendation_id == recommendation_id)


def test_the_rule_and_reports_may_come_in_one_batch() -> None:
    """What the rule lets go of is still found by those who come after it."""
    rule = Imputation(after_days=1, actual="walk", reward=0.0)
    for is_reported in (False, True):
        live = Live(impute=rule)
        made = live.recommend("a").recommendation_id
        live.clock.pass_days(2)
        first = Report(trial="t", request_id="q1", recommendation_id=made, actual="walk", reward=1.0)
        late = Report(trial="t", request_id="q2", recommendation_id=made, actual="aspirin", reward=1.0)
        rule_now = ImputeMissing(trial="t", request_id="")
        again = Recommend(trial="t", request_id="q3", site="Leeds", subject="a")  # what is only imputed is still open
        answers = live.processor.execute([first, rule_now, late] if is_reported else [rule_now, again, late])
        assert isinstance(answers[-1], ConflictError) == is_reported
        if not is_reported:
            assert answers[1] == RecommendationResponse(made, ARMS[arm_of(live, made)])
            assert isinstance(answers[-1], Receipt)
        with live.store.reading() as view:
            assert replay(view, 1).difference is None


def test_what_was_only_imputed_is_still_open() -> None:
    live = Live(impute=Imputation(after_days=1, took_nothing=True, reward=0.0))
    first = live.recommend("a")
    live.clock.pass_days(2)
    live.impute_missing()
    assert live.recommend("a") == first


def test_what_was_taken_back_is_not_imputed_even_if_the_cache_is_lost() -> None:
    live = Live(impute=Imputation(after_days=1, took_nothing=True, reward=0.0))
    live.recommend("a")
    live.report(0, actual="walk", reward=1.0)
    live.clock.pass_days(2)
    live.impute_missing()
    live.correct(0, retract=("reward",))
    with live.store.writing() as writing:
        writing.append(1, [], writing.head(1)._replace(snapshot=b""))
    live.impute_missing()
    assert "Imputed" not in live.kinds()


def test_a_correction_in_a_blinded_trial_takes_as_long_whatever_the_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates are learned again in either case, or a site could sort kits by how long the answer takes."""
    live = Live(blinded=True)
    kits = [live.recommend(f"s{n}").kit for n in range(12)]
    arms = {event.recommendation_index: event.chosen for event in live.events() if isinstance(event, Recommended)}
    live.report(0, actual=kits[0], reward=1.0)
    relearned: list[int] = []
    relearn = Projection._relearn

    def counting(projection: Projection, place: int) -> Any:
        relearned.append(place)
        return relearn(projection, place)

    monkeypatch.setattr(Projection, "_relearn", counting)
    for same in (True, False):
        other = next(n for n in range(1, 12) if (arms[n] == arms[0]) == same)
        live.correct(0, actual=kits[other])
    assert len(relearned) == 2
    assert relearned[0] == relearned[1]
