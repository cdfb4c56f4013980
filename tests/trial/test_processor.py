"""What a live trial answers, records and learns."""

from __future__ import annotations

import numpy as np
import pytest

from adhere.design.make_design import make_design
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.trial.domain.commands import ChangeStatus, Erase, Receipt, Recommend, Report, Withdraw
from adhere.trial.domain.events import Conflicted, Corrected, Recommended
from adhere.trial.log.explain import describe
from adhere.trial.monitoring.results import results_of
from adhere.trial.trial import Trial

from .live import ARMS, UNKNOWN_ID, Live, number_of, replay_of


def test_it_is_the_trial_in_memory() -> None:
    """In a rehearsal, the same policy, seed and reports give the same arms, probabilities and state as `Trial`."""
    policy = "hierarchical(thompson)"
    live, plain = Live(policy, n_patients=100, seed=5), Trial(policy, ARMS, 5, 100)
    for n in range(30):
        advice, expected = live.recommend(f"s{n}"), plain.recommend()
        assert advice.arm == expected.arm
        taken, reward = ARMS[n % 2], float(n % 3 == 0)
        live.report(advice.recommendation_id, actual=taken, reward=reward)
        plain.report(expected.id, actual=taken, reward=reward)
    made = [event.probabilities for event in live.events() if isinstance(event, Recommended)]
    assert made == [event.probabilities for event in plain.events if isinstance(event, Recommended)]
    assert np.frombuffer(live.snapshot().policy_state).tolist() == list(plain.state)


def test_a_recommendation_says_all_that_explains_it() -> None:
    live = Live()
    live.report(live.recommend("first").recommendation_id, actual="aspirin", reward=1.0)
    given = live.recommend("second", request_id="ask-2", by="token 7").recommendation_id
    event = live.events()[-1]
    assert isinstance(event, Recommended)
    assert (event.position, event.learned_up_to) == (4, 3)
    assert (event.recommendation_index, event.recommendation_id, event.epoch) == (1, given, "")
    assert (event.by, event.request_id, event.site, event.at) == ("token 7", "ask-2", "Leeds", live.clock())
    assert event.probabilities == pytest.approx((1 / 3, 2 / 3))
    assert (event.algorithm_version, event.software) == ("thompson:2 randomness:1", "0.1.0")


def test_the_same_request_id_gets_the_same_answer() -> None:
    live = Live()
    first = live.recommend("s", request_id="one")
    live.report(first.recommendation_id, actual="walk", reward=1.0, request_id="two")
    n_records = len(live.events())
    for _ in range(3):
        assert live.recommend("s", request_id="one") == first
        receipt = live.report(first.recommendation_id, actual="walk", reward=1.0, request_id="two")
        assert receipt == Receipt(live.clock(), recommendation_id=first.recommendation_id)
    assert len(live.events()) == n_records


def test_the_same_request_id_twice_in_a_batch_is_executed_once() -> None:
    live = Live()
    live.recommend("a")
    report = Report(trial="t", request_id="r", recommendation_id=live.id_of(0), actual="walk", reward=1.0)
    first, second = live.processor.execute([report, report])
    assert isinstance(first, Receipt)
    assert first == second
    assert live.kinds() == ["Created", "Recommended", "Reported"]


def test_something_else_under_the_same_id_is_refused_and_kept_as_evidence() -> None:
    live = Live()
    live.recommend("s", request_id="one")
    with pytest.raises(ConflictError, match="was used before for another request"):
        live.recommend("other", request_id="one")
    with pytest.raises(ConflictError):
        live.recommend("s", request_id="one", site="York")
    assert live.kinds() == ["Created", "Recommended", "Conflicted", "Conflicted"]
    evidence = live.events()[2]
    assert isinstance(evidence, Conflicted)
    assert evidence.of == 2


def test_other_words_under_the_same_id_are_a_conflict_too() -> None:
    live = Live()
    made = live.recommend("s").recommendation_id
    live.report(made, took_other="herbal tea", request_id="x")
    live.report(made, took_other="herbal tea", request_id="x")
    with pytest.raises(ConflictError):
        live.report(made, took_other="coffee", request_id="x")


def test_a_subject_with_an_open_recommendation_gets_it_again() -> None:
    live = Live()
    first = live.recommend("s")
    assert live.recommend("s") == first
    live.report(first.recommendation_id, actual="walk")
    assert live.recommend("s") == first
    live.report(first.recommendation_id, reward=0.0)
    assert live.index_of(live.recommend("s")) == 1
    assert live.index_of(live.recommend("s", site="York")) == 2  # another site's subject of the same name


def test_a_trial_that_allows_repeats_recommends_anew() -> None:
    live = Live(repeats=True)
    assert [live.index_of(live.recommend("s")) for _ in range(3)] == [0, 1, 2]


def test_a_batch_is_answered_in_order_and_refusals_do_not_spoil_it() -> None:
    live = Live()
    asked = [Recommend(trial="t", request_id=f"r{n}", subject=subject) for n, subject in enumerate("aab\x00c")]
    asked.append(Recommend(trial="nowhere", request_id="x", subject="a"))
    answers = live.processor.execute(asked)
    ids = [live.id_of(index) for index in range(3)]
    expected = [ids[0], ids[0], ids[1], None, ids[2], None]
    assert [getattr(answer, "recommendation_id", None) for answer in answers] == expected
    assert len(set(ids)) == 3
    assert isinstance(answers[3], InputError)
    assert isinstance(answers[5], UnknownError)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"actual": "asprin"}, "actual: got 'asprin', expected one of walk, aspirin"),
        ({"reward": 1.5}, "reward: got 1.5, expected a number from 0 to 1"),
        ({"reward": float("nan")}, "reward: got nan"),
        ({}, "the report is empty; expected what was taken"),
        ({"actual": "walk", "took_nothing": True}, "actual and took_nothing exclude each other"),
        ({"took_other": ""}, "took_other: got ''"),
    ],
)
def test_a_report_that_makes_no_sense_is_refused_and_nothing_written(said: dict[str, object], complaint: str) -> None:
    live = Live()
    made = live.recommend("s").recommendation_id
    with pytest.raises(InputError) as refused:
        live.report(made, **said)
    assert str(refused.value).startswith(complaint)
    assert live.kinds() == ["Created", "Recommended"]


def test_a_report_that_contradicts_another_is_refused() -> None:
    live = Live()
    made = live.recommend("s").recommendation_id
    live.report(made, actual="walk", reward=1.0)
    with pytest.raises(
        ConflictError,
        match=f"conflicts with an earlier report for recommendation {made}: .*; to change it, send a correction",
    ):
        live.report(made, reward=0.0)
    assert live.report(made, actual="walk", site=None).record == 4  # the same again is acknowledged
    assert live.kinds()[-1] == "Repeated"


def test_another_sites_recommendation_looks_like_none() -> None:
    live = Live()
    made = live.recommend("s").recommendation_id
    complaints = []
    for one in (made, UNKNOWN_ID):
        with pytest.raises(UnknownError) as refused:
            live.report(one, reward=1.0, site="York")
        complaints.append(str(refused.value).replace(one, "N"))
    assert complaints[0] == complaints[1]


def test_times_may_not_lie_in_the_future_or_before_the_recommendation() -> None:
    live = Live()
    made = live.recommend("s").recommendation_id
    early, late = live.clock().replace(year=2025), live.clock().replace(year=2027)
    for when in (early, late, live.clock().replace(tzinfo=None)):
        with pytest.raises(InputError, match="happened"):
            live.report(made, reward=1.0, happened=when)
    live.report(made, reward=1.0, happened=live.clock())


def test_paused_and_closed_trials() -> None:
    live = Live()
    made = live.recommend("s").recommendation_id

    def change(status: str, request: str) -> None:
        live.send(ChangeStatus(trial="t", request_id=request, status=status, reason="interim look"))

    change("paused", "p")
    change("paused", "p")  # the same request again
    change("paused", "p2")  # changes nothing
    with pytest.raises(ConflictError, match="is paused"):
        live.recommend("another")
    assert live.recommend("s").recommendation_id == made  # which is open: nobody new is recruited
    live.report(made, reward=1.0)
    change("open", "o")
    live.recommend("another")
    change("closed", "c")
    for refused in (lambda: live.recommend("third"), lambda: live.report(made, actual="walk")):
        with pytest.raises(ConflictError, match="is closed: it has ended, and nothing more can be recorded"):
            refused()
    with pytest.raises(ConflictError, match="is closed"):
        change("open", "again")


def test_what_was_withdrawn_takes_no_more_reports() -> None:
    live = Live()
    made = live.recommend("s").recommendation_id
    live.report(made, reward=1.0)
    live.send(Withdraw(trial="t", request_id="w", recommendation_id=made, reason="left the study"))
    with pytest.raises(ConflictError, match=f"recommendation {made} is marked as lost to follow-up"):
        live.report(made, actual="walk")
    live.send(Withdraw(trial="t", request_id="w2", recommendation_id=made, reason="left the study"))  # is only noted
    assert live.index_of(live.recommend("s")) == 1


def test_a_person_can_be_forgotten_without_breaking_the_chain() -> None:
    live = Live()
    live.recommend("Alice")
    live.report(0, took_other="Alice's own tea")
    live.send(Erase(trial="t", request_id="e", site="Leeds", subject="Alice"))
    live.send(Erase(trial="t", request_id="e", site="Leeds", subject="Alice"))
    with live.store.reading() as view:
        kept = repr((list(view.subjects(1)), view.notes(1), view.records(1)))
    assert "Alice" not in kept
    with pytest.raises(UnknownError):
        live.send(Erase(trial="t", request_id="f", site="Leeds", subject="Alice"))
    assert live.index_of(live.recommend("Alice")) == 1  # somebody new, for all we know


def test_the_same_design_again_is_acknowledged_another_is_refused() -> None:
    for live in (Live(), Live(seed=5)):
        first = live.processor.create(live.design)
        assert first.record == 1
        with pytest.raises(ConflictError, match="of another design already"):
            live.processor.create(make_design("t", "thompson", ("walk", "aspirin")))
        assert live.kinds() == ["Created"]
    assert live.processor.create(live.design, seed=5) == first
    with pytest.raises(ConflictError, match="with another seed already"):
        live.processor.create(live.design, seed=6)


def test_only_a_rehearsal_may_have_a_seed() -> None:
    live = Live()
    design = make_design("u", "thompson", ARMS)
    for seed in (0, 5, 2**64 - 1):
        with pytest.raises(InputError, match=f"seed: got {seed}, expected none: a live trial draws its own secret"):
            live.processor.create(design, seed=seed)
    with live.store.reading() as view:
        assert list(view.trials()) == ["t"]


def test_a_trial_takes_no_more_patients_than_its_design() -> None:
    live = Live("thompson", n_patients=2)
    assert [live.index_of(live.recommend(subject)) for subject in "aba"] == [0, 1, 0]  # an open one is repeated
    plain = Trial.from_design(live.design, seed=5)
    for _ in range(2):
        plain.recommend()
    full = r"trial 't' has all of its 2 patients \(n_patients of its design\)"
    with pytest.raises(ConflictError, match=full):
        live.recommend("c")
    with pytest.raises(ConflictError, match=full):
        plain.recommend()
    live.report(0, actual="walk", reward=1)


def test_other_words_for_what_else_was_taken_need_a_correction() -> None:
    live = Live()
    live.recommend("a")
    live.report(0, took_other="tea")
    assert live.report(0, took_other="tea", site=None).record == 4
    with pytest.raises(ConflictError, match="conflicts with an earlier report: got other words"):
        live.report(0, took_other="coffee")
    live.correct(0, took_other="coffee")


def test_words_under_the_request_id_of_a_report_without_are_refused() -> None:
    live = Live()
    live.recommend("a")
    live.report(0, reward=1, request_id="report")
    live.correct(0, reward=0, request_id="correction")
    with pytest.raises(ConflictError, match="was used before for another request"):
        live.report(0, reward=1, took_other="tea", request_id="report")
    with pytest.raises(ConflictError, match="was used before for another request"):
        live.correct(0, reward=0, took_other="tea", request_id="correction")


@pytest.mark.parametrize(
    ("arms", "complaint"),
    [(["\u00e9", "e\u0301"], "names that look different"), (['a"b', "c"], "without a quotation mark")],
)
def test_arms_that_could_not_be_told_apart_or_exported(arms: list[str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Live(arms=arms)


def test_a_status_there_is_not_and_a_site_with_a_slash() -> None:
    live = Live()
    with pytest.raises(InputError, match="status: got 'bogus'"):
        live.send(ChangeStatus(trial="t", request_id="p", status="bogus", reason="why"))
    with pytest.raises(InputError, match="a name without a slash"):
        live.recommend("b", site="A/b")


def test_a_withdrawn_recommendation_takes_corrections_of_what_was_reported_only() -> None:
    live = Live()
    live.recommend("a")
    live.report(0, reward=1.0)
    live.send(Withdraw(trial="t", request_id="w", recommendation_id=live.id_of(0), reason="left"))
    live.correct(0, reward=-0.0)
    with pytest.raises(ConflictError, match="before the withdrawal"):
        live.correct(0, actual="walk")


def test_who_is_heard_of_again_is_not_lost_to_follow_up() -> None:
    live = Live(impute={"after_days": 14, "reward": 0.0})
    for subject in ("a", "b", "c"):
        live.recommend(subject)
    with pytest.raises(ConflictError, match=f"recommendation {live.id_of(0)} is not marked as lost to follow-up"):
        live.correct(0, retract=("withdrawal",))
    for made in map(live.id_of, range(3)):
        live.send(Withdraw(trial="t", request_id=f"lost {made}", recommendation_id=made, reason="moved away"))
    live.correct(0, retract=("withdrawal",), reason="came to a visit")
    live.report(0, actual="walk", reward=1.0)
    live.correct(1, retract=("withdrawal",), reward=0.0, reason="told by telephone")
    live.correct(2, retract=("withdrawal",), reason="the wrong person was marked")
    live.clock.pass_days(15)
    live.impute_missing()  # nothing: it never applies after a retraction, whenever the subject was lost
    with live.store.reading() as view:
        results = results_of(view, number_of(view), live.design, live.engine())
    assert (results.lost_to_follow_up, results.complete, results.waiting, results.imputed_parts) == (0, 1, 2, 0)
    assert replay_of(live.events()).difference is None
    returned = next(event for event in live.events() if isinstance(event, Corrected))
    assert describe(live.design, returned) == "corrected: not lost to follow-up (came to a visit)"
