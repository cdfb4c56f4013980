"""The audit over HTTP: the log in words, a recommendation derived again on the spot, the chain verified."""

from __future__ import annotations

import pytest
import scipy.stats

from adhere.errors import UnknownError
from adhere.service.api import audit
from adhere.store import open_store
from service.serving import ARMS, Service, in_thread
from trial.live import UNKNOWN_ID


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    """A trial in which reports were late, corrected and retracted between recommendations."""
    name = service.new_trial(policy="thompson/actual")
    site = service.client("site")
    for number in range(12):
        made = site.recommend(name, f"S-{number}")
        if number % 3 != 2:
            site.report(name, made.id, actual=made.arm, reward=number % 2)
        if number in (4, 8):
            site.correct(name, service.ids(name)[number - 4], "typed wrongly", reward=1)
    ids = service.ids(name)
    site.report(name, ids[2], took_other="ibuprofen", reward=1)
    site.correct(name, ids[0], "another patient's", retract=["reward"])
    return name


def test_the_log_is_listed_in_words_page_by_page(
    service: Service, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistician = service.client("statistician")
    whole = statistician.records(trial)
    assert [line.record for line in whole.records] == list(range(1, whole.total + 1))
    assert (whole.before, whole.after) == (None, None)
    said = {line.record: line.says for line in whole.records}
    assert said[1].startswith("created: thompson/actual, arms walk, aspirin")
    assert said[2].startswith("recommended: ")
    assert "(ibuprofen), reward 1" in said[whole.total - 1]
    assert said[whole.total] == "corrected: reward retracted (another patient's)"
    assert whole.records[1].by == "the site of the tests"
    assert whole.records[-1].hash == service.client().trial(trial).head
    monkeypatch.setattr(audit, "_PAGE", 5)
    pages = [statistician.records(trial)]
    while (before := pages[0].before) is not None:
        pages.insert(0, statistician.records(trial, before=before))
    assert [line for page in pages for line in page.records] == whole.records
    forwards = [statistician.records(trial, after=0)]
    while (after := forwards[-1].after) is not None:
        forwards.append(statistician.records(trial, after=after))
    assert [line for page in forwards for line in page.records] == whole.records


@pytest.mark.parametrize("number", [0, 3, 9, 11])
def test_a_recommendation_is_derived_again_from_the_log_as_it_stood(
    service: Service, trial: str, number: int
) -> None:
    recommendation_id = service.ids(trial)[number]
    found = service.client("statistician").derive_again(trial, recommendation_id)
    logged = service.client("statistician").recommendation(trial, recommendation_id).derivation
    assert logged is not None
    assert (found.same, found.derived, found.difference) == (True, "arm and probabilities", None)
    assert found.arm == found.logged_arm == logged.arm
    assert found.probabilities == pytest.approx(logged.probabilities)
    assert found.records == logged.learned_up_to
    why = {reason.what: reason.says for reason in found.reasons}
    assert why["policy"] == f"thompson/actual, which had learned from records 1 to {found.records}"
    assert why["drawn by"] == "the trial's secret"
    assert why["believed"] == f"thompson/actual: {_believed(service, trial, number, found.records)}"
    assert [line.event for line in found.history] == [line.event for line in logged.history]


def _believed(service: Service, trial: str, number: int, n_records: int) -> str:
    """What Thompson sampling makes of the outcomes of those who took each arm, as reported within so many records."""
    counts = {arm: [1, 1] for arm in ARMS}  # the uniform prior
    for one in service.ids(trial)[:number]:
        made = service.client().recommendation(trial, one).derivation
        assert made is not None
        told = [line for line in made.history if line.record <= n_records]
        actual = next((line.actual for line in reversed(told) if line.actual), None)
        reward = next((line.reward for line in reversed(told) if line.reward is not None), None)
        if actual in ARMS and reward is not None:
            counts[actual][reward == 0] += 1
    said = []
    for arm, (good, bad) in counts.items():
        low, high = scipy.stats.beta(good, bad).ppf([0.025, 0.975])
        said.append(f"{arm} {good / (good + bad):.3f} ({low:.3f} to {high:.3f})")
    return f"mean outcome with 95% interval, by the arm taken: {', '.join(said)}"


def test_a_recommendation_that_is_not_there_is_unknown(service: Service, trial: str) -> None:
    with pytest.raises(UnknownError, match="recommendation"):
        service.client().derive_again(trial, UNKNOWN_ID)


def test_a_log_that_is_whole_and_one_that_was_changed() -> None:
    store = open_store(None)
    with in_thread(store) as service:
        name = service.new_trial()
        service.client("site").recommend(name, "S-1")
        found = service.client("statistician").verify(name)
        assert (found.whole, found.records, found.fault) == (True, 2, None)
        assert found.head == service.client().trial(name).head
        with store.writing() as writing:
            writing.run("UPDATE records SET body = replace(body, 'S', 'T') WHERE position = 2")
            writing.run("UPDATE records SET hash = ? WHERE position = 2", (bytes(32),))
        changed = service.client("statistician").verify(name)
        assert (changed.whole, changed.records) == (False, 1)
        assert changed.fault is not None
        assert changed.fault.startswith("record 2:")


def test_who_read_what_is_listed_newest_first_if_asked(service: Service, trial: str) -> None:
    service.client("statistician").records(trial)
    service.client("statistician").results(trial)
    path = f"/trials/{trial}/accesses"
    forwards = service.send("GET", path).json["accesses"]
    newest = service.send("GET", f"{path}?before=0").json["accesses"]
    assert newest == forwards[::-1]
    assert newest[0]["kind"] == "results"
    assert service.send("GET", f"{path}?before={newest[0]['id']}").json["accesses"] == newest[1:]
