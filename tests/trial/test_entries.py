"""A second entry of a subject: never, once it is confirmed, or always; and never two that are open."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest

from adhere import Trial
from adhere.design.make_design import make_design
from adhere.design.words import in_words
from adhere.errors import ConflictError, InputError
from adhere.store import open_store
from adhere.trial.domain.commands import Correct, Erase, MarkInError, Recommend, RecommendationResponse, Withdraw
from adhere.trial.domain.events import Recommended
from adhere.trial.log.log_file import import_log, write_log
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import utc_now

from .live import ARMS, SECRET, Live, number_of, replay_of

DONE: dict[str, Any] = {"actual": "walk", "reward": 1.0}
ENTRIES: Any = ("once", "ask", "repeated")
STRATA: dict[str, Any] = {
    "policy": "burn-in(thompson, patients=20)",
    "n_patients": 100,
    "strata": ("under 60", "60 and over"),
}


def lose(live: Live, index: int) -> None:
    made = live.id_of(index)
    live.send(Withdraw(trial="t", request_id=f"lost {made}", recommendation_id=made, reason="moved"))


def mark(live: Live, index: int) -> None:
    made = live.id_of(index)
    live.send(MarkInError(trial="t", request_id=f"slip {made}", recommendation_id=made, reason="typing error"))


def refused(live: Live, subject: str = "s", **said: Any) -> ConflictError:
    """The refusal of an entry; nothing was written."""
    before = len(live.events())
    with pytest.raises(ConflictError) as caught:
        live.recommend(subject, **said)
    assert len(live.events()) == before
    return caught.value


@pytest.mark.parametrize("end", ["complete", "lost"])
def test_a_subject_is_entered_once(end: str) -> None:
    live = Live(entries="once")
    first = live.recommend("s")
    assert live.recommend("s") == first  # as long as it is open
    if end == "complete":
        live.report(0, **DONE)
    else:
        lose(live, 0)
    error = refused(live, again=True)
    made = first.recommendation_id
    assert str(error) == (
        f"subject 's' was entered on 2026-03-01 (recommendation {made}); a subject can be entered only once. If "
        "that was an entry error, mark it as entered in error"
    )
    assert (error.field, error.value, error.recommendation_id) == ("subject", "s", made)
    assert pickle.loads(pickle.dumps(error)).recommendation_id == made
    assert live.index_of(live.recommend("s", site="York")) == 1  # another site's subject of the same name
    assert live.index_of(live.recommend("other")) == 2


def test_a_subject_whose_entries_were_slips_can_be_entered() -> None:
    live = Live(entries="once")
    for index in range(2):
        assert live.index_of(live.recommend("s")) == index
        mark(live, index)
    live.report(live.recommend("s").recommendation_id, **DONE)
    assert refused(live).recommendation_id == live.id_of(2)
    assert [event.earlier for event in live.events() if isinstance(event, Recommended)] == [None, 0, 1]


def test_a_second_entry_is_made_once_it_is_confirmed() -> None:
    live = Live(entries="ask")
    first = live.recommend("s", again=True)  # which changes nothing where nobody was entered
    live.report(0, **DONE)
    error = refused(live)
    assert str(error).endswith("; to enter the subject again on purpose, send again=true")
    assert error.recommendation_id == first.recommendation_id
    assert live.index_of(live.recommend("s", again=True)) == 1
    assert live.index_of(live.recommend("s")) == 1  # it is open
    mark(live, 1)
    assert refused(live).recommendation_id == first.recommendation_id  # that one still counts
    assert live.index_of(live.recommend("s", again=True)) == 2
    lose(live, 2)
    assert refused(live).recommendation_id == live.id_of(2)


def test_confirming_is_another_request_than_not_confirming() -> None:
    live = Live(entries="ask")
    live.recommend("s", request_id="one")
    with pytest.raises(ConflictError, match="used before for another request"):
        live.recommend("s", request_id="one", again=True)
    live.report(0, **DONE)
    second = live.recommend("s", request_id="two", again=True)
    live.report(1, **DONE)
    assert live.recommend("s", request_id="two", again=True) == second


def test_designs_without_the_field_are_as_they_were() -> None:
    live = Live()
    assert live.design.digest == make_design("t", "thompson/actual", ARMS, entries="repeated").digest
    assert "entries" not in live.design.to_toml()
    for index in range(3):
        assert live.index_of(live.recommend("s")) == index
        live.report(index, **DONE)
    assert all(event.earlier is None for event in live.events() if isinstance(event, Recommended))


def test_repeats_contradict_it() -> None:
    for entries in ("once", "ask"):
        with pytest.raises(InputError, match=f"entries: '{entries}' and repeats exclude each other"):
            make_design("t", "thompson", ARMS, repeats=True, entries=entries)
    assert make_design("t", "thompson", ARMS, repeats=True, entries="repeated").repeats
    with pytest.raises(InputError, match="entries"):
        make_design("t", "thompson", ARMS, entries="twice")  # which is what is refused


def test_a_design_says_it_in_words() -> None:
    said = {entries: " ".join(in_words(make_design("t", "thompson", ARMS, entries=entries))) for entries in ENTRIES}
    assert "is entered once" in said["once"]
    assert "only if the site confirms it" in said["ask"]
    assert "entered" not in said["repeated"]


def test_another_stratum_leads_to_the_first_entry() -> None:
    live = Live(**STRATA, entries="once")
    first = live.recommend("s", stratum="under 60")
    assert (first.entered_at, first.stratum) == (None, None)
    live.clock.pass_days(1)
    again = live.recommend("s", stratum="60 and over", request_id="again")
    assert again.recommendation_id == first.recommendation_id
    assert again.arm == first.arm
    assert again.entered_at is not None
    assert (f"{again.entered_at:%d %b}", again.stratum) == ("01 Mar", "under 60")
    assert live.recommend("s", stratum="60 and over", request_id="again") == again
    assert live.recommend("s", stratum="under 60") == first
    live.report(0, **DONE)
    assert refused(live, stratum="60 and over").recommendation_id == first.recommendation_id


@pytest.mark.parametrize("part", ["actual", "reward", "withdrawal"])
def test_a_round_is_not_opened_again_while_another_is_open(part: str) -> None:
    live = Live()
    live.recommend("s")
    if part == "withdrawal":
        lose(live, 0)
    else:
        live.report(0, **DONE)
    second = live.recommend("s").recommendation_id
    with pytest.raises(ConflictError) as caught:
        live.correct(0, retract=(part,))
    assert str(caught.value) == (
        f"recommendation {second} of the same subject is open, and only one may be open. First report on it in full, "
        "or mark it as lost to follow-up or as entered in error"
    )
    assert caught.value.recommendation_id == second
    live.report(1, **DONE)
    live.correct(0, retract=(part,))
    assert live.recommend("s").recommendation_id == live.id_of(0)  # which is open, though not the latest
    with pytest.raises(ConflictError, match=f"recommendation {live.id_of(0)} of the same subject is open"):
        live.correct(1, retract=("reward",))
    if part == "withdrawal":
        live.report(0, **DONE)
    else:
        live.report(0, **{part: DONE[part]})
    live.correct(1, retract=("reward",))
    assert live.recommend("s").recommendation_id == second
    with live.store.reading() as view:
        assert verify(view, number_of(view)).fault is None
    assert replay_of(live.events()).difference is None


def test_a_correction_that_leaves_a_round_closed_is_taken_while_another_is_open() -> None:
    live = Live()
    live.recommend("s")
    live.report(0, reward=1.0)
    lose(live, 0)
    live.recommend("s")
    live.correct(0, retract=("reward",))  # lost to follow-up it stays
    assert live.index_of(live.recommend("s")) == 1


def test_several_rounds_may_be_open_where_the_design_repeats() -> None:
    live = Live(repeats=True)
    for index in range(2):
        live.recommend("s")
        live.report(index, **DONE)
    live.recommend("s")
    live.correct(0, retract=("reward",))
    assert live.index_of(live.recommend("s")) == 3


def test_within_one_transaction() -> None:
    live = Live()
    live.recommend("s")
    live.report(0, **DONE)
    asked = Recommend(trial="t", request_id="r", site="Leeds", subject="s")
    made, refusal = live.processor.execute([asked, _retraction(live.id_of(0), "c")])
    assert isinstance(refusal, ConflictError)
    assert refusal.recommendation_id == made.recommendation_id  # type: ignore[union-attr]  # it was made
    live.report(1, **DONE)
    _, again = live.processor.execute(
        [_retraction(live.id_of(0), "d"), Recommend(trial="t", request_id="e", site="Leeds", subject="s")]
    )
    assert again.recommendation_id == live.id_of(0)  # type: ignore[union-attr]  # as above


def test_of_a_person_who_was_erased_only_one_round_is_open_either() -> None:
    live = Live()
    for index in range(2):
        live.recommend("s")
        if index == 0:
            live.report(0, **DONE)
    live.send(Erase(trial="t", request_id="erase", site="Leeds", subject="s"))
    with pytest.raises(ConflictError, match=f"recommendation {live.id_of(1)} of the same subject is open"):
        live.correct(0, retract=("reward",))


def test_rounds_are_known_after_a_restart_and_an_import(tmp_path: Any) -> None:
    live = Live(entries="ask")
    live.recommend("s")
    live.report(0, **DONE)
    live.recommend("s", again=True)
    live.report(1, **DONE)
    live.correct(0, retract=("reward",))
    live.processor = type(live.processor)(live.store, live.clock)
    assert live.recommend("s").recommendation_id == live.id_of(0)
    with live.store.reading() as view:
        write_log(view, number_of(view), tmp_path / "t.log")
        open_again = live.id_of(0)
    store = open_store()
    assert import_log(tmp_path / "t.log", store, (SECRET,), utc_now()) == ("t", None)
    copy = Live(store=store, entries="ask")
    assert copy.recommend("s", request_id="in the copy").recommendation_id == open_again
    with pytest.raises(ConflictError, match="is open"):
        copy.correct(1, retract=("reward",), request_id="too")


def test_nobody_is_entered_for_no_site_once_somebody_was_entered_for_one() -> None:
    live = Live()
    first = live.recommend("s", site=None, request_id="one")
    live.recommend("s")
    for subject in ("s", "other"):
        with pytest.raises(InputError, match="name the site that the subject is entered for"):
            live.recommend(subject, site=None)
    assert live.recommend("s", site=None, request_id="one") == first  # sent again
    live.processor = type(live.processor)(live.store, live.clock)
    with pytest.raises(InputError, match="name the site"):
        live.recommend("other", site=None)
    with pytest.raises(InputError, match="is entered for, one of Leeds"):
        Live().recommend("s", site=None, sites=("Leeds",))


def test_patients_in_memory_are_all_different() -> None:
    trial = Trial.from_design(make_design("t", "thompson", ARMS, entries="once"), seed=1)
    for _ in range(3):
        trial.report(trial.recommend().id, actual="walk", reward=1)


def _retraction(recommendation_id: str, request_id: str) -> Any:
    return Correct(
        trial="t",
        request_id=request_id,
        site="Leeds",
        recommendation_id=recommendation_id,
        reason="slip",
        retract=("reward",),
    )


def test_a_new_subject_who_looks_like_another_is_refused_if_that_is_asked_for() -> None:
    """Commands of one transaction count for one another, and those of another site do not."""
    live = Live("uniform")
    commands = [
        Recommend(trial="t", request_id=f"{site} {code}", site=site, subject=code, refuse_alike=refuse)
        for site, code, refuse in (
            ("Leeds", "L-001", True),
            ("Leeds", "l001", True),
            ("York", "l001", True),
            ("Leeds", "L-001", True),
            ("Leeds", "L 001", False),
        )
    ]
    first, alike, other_site, same, not_asked = live.processor.execute(commands)
    assert isinstance(first, RecommendationResponse)
    assert isinstance(alike, ConflictError)
    assert (alike.field, alike.recommendation_id) == ("refuse_alike", first.recommendation_id)
    assert isinstance(same, RecommendationResponse)
    assert same.recommendation_id == first.recommendation_id
    made = {
        one.recommendation_id for one in (first, other_site, not_asked) if isinstance(one, RecommendationResponse)
    }
    assert len(made) == 3
    # The flag is no part of what a request says: its repetition is answered alike with it and without it.
    (again,) = live.processor.execute([msgspec.structs.replace(commands[4], refuse_alike=True)])
    assert isinstance(again, RecommendationResponse)
    (later,) = live.processor.execute([msgspec.structs.replace(commands[1], request_id="later")])
    assert isinstance(later, ConflictError)
    assert later.recommendation_id in made
    (meant,) = live.processor.execute([msgspec.structs.replace(commands[1], refuse_alike=False)])
    assert isinstance(meant, RecommendationResponse)
    assert "refuse_alike" not in str(live.events())
