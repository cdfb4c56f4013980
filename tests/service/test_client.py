"""Every route as a user meets it, through the client."""

from __future__ import annotations

import http.server
import inspect
import threading
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import adhere
from adhere.client import ServiceError
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.service.requests import NewTrial
from adhere.trial.design import make_design
from service.serving import ARMS, Service


def test_the_client_is_found_at_the_front_door() -> None:
    from adhere.client import Client

    assert adhere.Client is Client


def test_a_design_has_the_same_arguments_everywhere() -> None:
    of_design = inspect.signature(make_design).parameters
    assert list(inspect.signature(NewTrial).parameters) == list(of_design)
    assert list(inspect.signature(adhere.Client.create_trial).parameters)[1:] == list(of_design)
    for function in (NewTrial, adhere.Client.create_trial):
        theirs = inspect.signature(function).parameters
        assert {name: theirs[name].default for name in of_design} == {
            name: parameter.default for name, parameter in of_design.items()
        }


def test_a_trial_from_its_beginning_to_its_end(service: Service, tmp_path: Path) -> None:
    admin, site = service.client(), service.client("site")
    design = admin.create_trial("headache", "thompson/actual", ARMS, seed=7)
    assert design.seed == 7
    assert admin.trials()["headache"] == "open"
    advice = site.recommend("headache", "S-1")
    assert advice.arm in ARMS
    assert advice.kit is None
    heard = site.report("headache", advice.id, actual=advice.arm, reward=1, happened=datetime.now(UTC))
    assert heard.recommendation_id == advice.id
    again = site.recommend("headache", "S-2")
    site.report("headache", again.id, took_other="ibuprofen")
    corrected = site.correct("headache", again.id, "a slip", took_nothing=True)
    assert corrected.record > heard.record
    site.withdraw("headache", again.id, "moved away")
    admin.pause("headache", "a look at the data")
    with pytest.raises(ConflictError, match="is paused"):
        site.recommend("headache", "S-3")
    admin.resume("headache", "all is well")
    admin.erase("headache", "S-1", site="A")
    found = admin.results("headache")
    assert (found.recommendations, found.reported, found.withdrawn) == (2, 1, 1)
    for form in ("csv", "parquet", "log"):
        file = tmp_path / f"trial.{form}"
        assert admin.export("headache", file, form) == found.head
        assert file.stat().st_size > 100
    assert pl.read_parquet(tmp_path / "trial.parquet")["TRTP"].to_list()[0] == advice.arm
    admin.end_trial("headache", "done")
    assert admin.trials()["headache"] == "closed"
    with pytest.raises(ConflictError, match="is closed"):
        site.recommend("headache", "S-3")


def test_a_recommendation_is_explained_to_those_who_may_know(service: Service) -> None:
    name = service.new_trial()
    site = service.client("site")
    advice = site.recommend(name, "S-1")
    site.report(name, advice.id, actual="walk", reward=0.0)
    told = site.recommendation(name, advice.id)
    assert (told.arm, told.took, told.actual, told.reward) == (advice.arm, "arm", "walk", 0.0)
    assert told.derivation is None
    everything = service.client("statistician").recommendation(name, advice.id).derivation
    assert everything is not None
    assert everything.probabilities == {"walk": 0.5, "aspirin": 0.5}
    assert [line.event for line in everything.history] == ["recommended", "reported"]
    assert everything.learned_up_to < everything.history[0].record


def test_a_site_is_told_of_a_trial_only_what_it_needs(service: Service) -> None:
    name = service.new_trial()
    told = service.client("site").trial(name)
    assert told.to_dict() == {"name": name, "status": "open", "blinded": False, "repeats": False, "arms": list(ARMS)}
    everything = service.client("statistician").trial(name)
    assert everything.seed == 5
    assert everything.policy == "thompson/actual"


def test_the_same_request_twice_is_carried_out_once(service: Service) -> None:
    name, site = service.new_trial(repeats=True), service.client("site")
    first = site.recommend(name, "S-1", request_id="one")
    assert site.recommend(name, "S-1", request_id="one") == first
    assert site.recommend(name, "S-1", request_id="two").id == first.id + 1
    with pytest.raises(ConflictError, match="was used before for another request"):
        site.recommend(name, "S-2", request_id="one")


def test_the_same_design_again_is_acknowledged_also_without_a_seed(service: Service) -> None:
    admin = service.client()
    first = admin.create_trial("unseeded", "uniform", ARMS)
    assert admin.create_trial("unseeded", "uniform", ARMS) == first
    with pytest.raises(ConflictError, match="of another design already"):
        admin.create_trial("unseeded", "ucb1", ARMS)


@pytest.mark.parametrize("name", ["Kopfweh & Übelkeit?", "a%2Fb", "..", "100 %", "#1", "試験"])
def test_trials_may_have_odd_names(service: Service, name: str) -> None:
    service.client().create_trial(name, "uniform", ARMS, seed=1)
    assert service.client("site").recommend(name, "S 1/ü").id == 0
    assert service.client().trial(name).name == name


def test_a_name_is_found_in_either_form_of_unicode(service: Service) -> None:
    service.client().create_trial("Mu\u0308sli", "uniform", ARMS, seed=1)
    assert service.client().trial("M\u00fcsli").name == service.client().trial("Mu\u0308sli").name


def test_refusals_are_the_errors_of_a_trial_at_hand(service: Service) -> None:
    name, site = service.new_trial(), service.client("site")
    advice = site.recommend(name, "S-1")
    with pytest.raises(InputError, match=r"actual: got 'aspirn', expected one of .* \(did you mean 'aspirin'\?\)"):
        site.report(name, advice.id, actual="aspirn")
    with pytest.raises(UnknownError, match="trial: got 'nowhere'"):
        site.recommend("nowhere", "S-1")
    with pytest.raises(ServiceError, match="403: this request needs the role admin"):
        site.pause(name, "why not")
    with pytest.raises(ServiceError, match="nothing listens at"):
        adhere.Client("http://127.0.0.1:9", "token", tries=0).trials()


def test_tokens_are_made_listed_and_revoked(service: Service) -> None:
    admin = service.client()
    made = admin.make_token("site", "ward 7", site="ward 7", trial=None)
    assert made.token.startswith("adh_")
    line = next(line for line in admin.tokens() if line.id == made.id)
    assert line.label == "ward 7"
    assert line.revoked_at is None
    assert made.token not in str(admin.tokens())
    holder = adhere.Client(service.url, made.token)
    assert isinstance(holder.trials(), dict)
    admin.revoke_token(made.id)
    with pytest.raises(ServiceError, match="401"):
        holder.trials()
    admin.revoke_token(made.id)  # once more changes nothing
    with pytest.raises(UnknownError):
        admin.revoke_token(10**9)


def test_a_call_is_repeated_under_its_id_until_it_is_answered() -> None:
    seen: list[str] = []

    class Moody(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers["Idempotency-Key"])
            self.rfile.read(int(self.headers["Content-Length"]))
            if len(seen) == 1:
                self.close_connection = True  # carried out, perhaps, and no answer
                return
            status, body = (503, b"{}") if len(seen) == 2 else (201, b'{"recommendation_id": 4, "arm": "walk"}')
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Moody)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        client = adhere.Client(f"http://127.0.0.1:{server.server_port}", "token")
        assert client.recommend("t", "S-1").id == 4
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert len(seen) == 3
    assert len(set(seen)) == 1


def test_a_reward_that_json_cannot_say_is_refused_here(service: Service) -> None:
    trial = service.new_trial()
    made = service.client("site").recommend(trial, "s")
    with pytest.raises(InputError, match="reward: got nan"):
        service.client("site").report(trial, made.id, actual="walk", reward=float("nan"))


def test_sites_make_up_their_request_ids_each_for_itself(service: Service) -> None:
    trial = service.new_trial()
    numbers = [service.client(site).recommend(trial, "s", request_id="visit-1").id for site in ("site", "other")]
    assert numbers == [0, 1]


def test_a_csv_export_holds_no_formulas(service: Service, tmp_path: Path) -> None:
    trial = service.new_trial()
    service.client("site").recommend(trial, "=1+1")
    advice = service.client("site").recommend(trial, "S-2")
    service.client("site").report(trial, advice.id, took_other="@SUM(A1)")
    service.client("statistician").export(trial, tmp_path / "t.csv")
    assert ",'@SUM(A1)," in (tmp_path / "t.csv").read_text()
