"""Words about a person who was erased are not kept, in no store, while what was taken is."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from adhere.design.arms import TOOK_OTHER
from adhere.errors import ConflictError
from adhere.store import Store, open_store
from adhere.trial.domain.commands import Erase, Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import Corrected, Reported
from adhere.trial.log.explain import explain
from adhere.trial.log.log_file import import_log, write_log
from adhere.trial.log.replay import replay
from adhere.trial.log.table import write_table
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import utc_now
from trial.live import SECRET, Live, number_of


def erase(live: Live, subject: str) -> None:
    live.send(Erase(trial="t", request_id=f"erase {subject}", site="Leeds", subject=subject))


def live_with_anna_erased(store: Store) -> Live:
    """Recommendations 0 and 1 were Anna's, who was erased; 2 is Ben's."""
    live = Live(store=store, repeats=True)
    for subject in ("anna", "anna", "ben"):
        live.recommend(subject)
    erase(live, "anna")
    return live


def forget_who_was_erased(store: Store) -> None:
    """As somebody may do who wants to keep words about people."""
    with store.writing() as transaction:
        transaction.run("DELETE FROM erased")


def words_in(store: Store) -> list[str]:
    with store.reading() as view:
        number = number_of(view)
        assert verify(view, number).fault is None
        return sorted(text for _, text in view.notes(number).values())


def test_words_about_an_erased_person_are_not_kept(store: Store, tmp_path: Path) -> None:
    live = live_with_anna_erased(store)
    live.report(0, took_other="her own tea", reward=1)
    live.correct(1, took_other="her own rum")
    live.report(2, took_other="his gin")
    assert words_in(store) == ["his gin"]
    reported, corrected = live.events()[-3:-1]
    assert isinstance(reported, Reported)
    assert (reported.actual, reported.reward, reported.text) == (TOOK_OTHER, 1.0, "")
    assert isinstance(corrected, Corrected)
    assert (corrected.actual, corrected.text) == (TOOK_OTHER, "")
    with store.reading() as view:
        told = "".join(line for index in (0, 1) for line in explain(view, number_of(view), live.id_of(index)))
        write_table(view, number_of(view), live.design, tmp_path / "t.csv", "csv")
        assert replay(view, number_of(view)).difference is None
    assert "her own" not in told + (tmp_path / "t.csv").read_text()


def test_they_are_acknowledged_when_said_again_since_nothing_is_left_to_compare(store: Store) -> None:
    live = Live(store=store)
    live.recommend("anna")
    live.recommend("zoe")
    first = live.report(0, took_other="before", request_id="first")
    erase(live, "anna")
    erase(live, "zoe")
    later = live.report(1, took_other="after", request_id="later")
    assert live.report(0, took_other="before", request_id="first") == first
    assert live.report(1, took_other="after", request_id="later") == later
    live.report(0, took_other="before")
    live.report(1, took_other="after")
    assert live.kinds()[-2:] == ["Repeated", "Repeated"]
    with pytest.raises(ConflictError, match="to change it, send a correction"):
        live.report(1, actual="walk")
    assert words_in(store) == []


def test_an_erasure_counts_at_once(store: Store) -> None:
    """Within the same transaction too, and not for a person of the same pseudonym who comes after it."""
    live = Live(store=store)
    first = live.recommend("anna").recommendation_id
    *_, again = live.processor.execute(
        [
            Erase(trial="t", site="Leeds", request_id="e", subject="anna"),
            Report(trial="t", site="Leeds", request_id="old", recommendation_id=first, took_other="old"),
            Recommend(trial="t", site="Leeds", request_id="again", subject="anna"),
        ]
    )
    assert isinstance(again, RecommendationResponse)
    assert again.recommendation_id != first
    live.report(again.recommendation_id, took_other="new")
    assert words_in(store) == ["new"]
    assert [event.text != "" for event in live.events() if isinstance(event, Reported)] == [False, True]


def test_a_log_that_was_imported_knows_who_was_erased(store: Store, tmp_path: Path) -> None:
    with closing(open_store()) as source:
        live_with_anna_erased(source)
        with source.reading() as view:
            write_log(view, number_of(view), tmp_path / "t.log")
    assert import_log(tmp_path / "t.log", store, (SECRET,), utc_now()) == ("t", None)
    live = Live(store=store, repeats=True)
    live.report(1, took_other="her own tea", request_id="tea")
    live.report(2, took_other="his gin", request_id="gin")
    assert words_in(store) == ["his gin"]


def test_words_about_an_erased_person_that_somebody_kept_are_not_imported(store: Store, tmp_path: Path) -> None:
    live = live_with_anna_erased(store)
    forget_who_was_erased(store)
    live.report(0, took_other="her own tea")
    live.report(2, took_other="his gin")
    assert words_in(store) == ["her own tea", "his gin"]
    with store.reading() as view:
        write_log(view, number_of(view), tmp_path / "t.log")
    with closing(open_store()) as copy:
        assert import_log(tmp_path / "t.log", copy, (SECRET,), utc_now()) == ("t", None)
        assert words_in(copy) == ["his gin"]


def test_the_folded_code_is_erased_too_and_is_in_no_log_and_no_table(store: Store, tmp_path: Path) -> None:
    live = Live(store=store)
    live.recommend("Müller-7")
    live.recommend("ben")
    folded = "mu11er7"
    with store.reading() as view:
        assert {row[0] for row in view.run("SELECT folded FROM subjects").fetchall()} == {folded, "ben"}
        write_log(view, number_of(view), tmp_path / "t.log")
        write_table(view, number_of(view), live.design, tmp_path / "t.csv", "csv")
        assert folded not in "".join(explain(view, number_of(view), live.id_of(0)))
    assert folded not in (tmp_path / "t.log").read_text() + (tmp_path / "t.csv").read_text()
    erase(live, "Müller-7")
    with store.reading() as view:
        assert [row[0] for row in view.run("SELECT folded FROM subjects").fetchall()] == ["ben"]
        tables = ("trials", "records", "subjects", "erased", "notes", "states", "updates")
        told = "".join(repr(view.run(f"SELECT * FROM {table}").fetchall()) for table in tables)
    assert folded not in told
