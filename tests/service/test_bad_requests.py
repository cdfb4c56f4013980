"""Whatever is sent, the answer is a problem that says what is wrong, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from service.serving import Reply, Service
from trial.live import UNKNOWN_ID

REPORT = "report"


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    name = service.new_trial()
    service.client("site").recommend(name, "S-1")
    return name


@pytest.fixture
def _unchanged(service: Service, trial: str) -> Iterator[None]:
    before = service.client().trial(trial).head
    yield
    assert service.client().trial(trial).head == before


def problem(reply: Reply, status: int) -> Any:
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    said = reply.json
    assert said["status"] == status
    assert said["type"].startswith("urn:adhere:problem:")
    assert said["title"]
    assert said["detail"]
    return said


@pytest.mark.usefixtures("_unchanged")
@pytest.mark.parametrize(
    ("body", "status", "field", "value"),
    [
        (b"", 400, "body", None),
        (b"{", 400, "body", None),
        (b'{"reward": NaN}', 400, "body", None),
        (b'{"reward": Infinity}', 400, "body", None),
        (b'{"reward": 1e999}', 422, "reward", "1e999"),
        (b'\xff\xfe{"reward": 1}', 400, "body", None),
        (b'{"actual": "\xff"}', 400, "body", None),
        (b'{"actual": "\\ud800"}', 400, "body", None),
        (b'{"actual":' + b"[" * 30_000, 422, "actual", None),
        (b"[]", 422, "body", None),
        (b'"text"', 422, "body", None),
        (b"null", 422, "body", None),
        (b'{"reward": "1"}', 422, "reward", "1"),
        (b'{"reward": "true"}', 422, "reward", "true"),
        (b'{"reward": [1]}', 422, "reward", None),
        (b'{"reward": 1.01}', 422, "reward", "1.01"),
        (b'{"reward": -1e-9}', 422, "reward", "-1e-09"),
        (b'{"reward": 1e308}', 422, "reward", "1e+308"),
        (b'{"reward": ' + b"9" * 400 + b"}", 422, "reward", None),
        (b'{"reward": 123456789012345678901234567890}', 422, "reward", None),
        (b'{"actual": "aspirn"}', 422, "actual", "aspirn"),
        (b'{"actual": ""}', 422, "actual", ""),
        (b'{"actual": " walk"}', 422, "actual", " walk"),
        (b'{"actual": 1}', 422, "actual", "1"),
        (b'{"actual": "walk", "took_nothing": true}', 422, "actual and took_nothing", "both"),
        (b'{"took_nothing": 1}', 422, "took_nothing", "1"),
        (b'{"took_other": "\\u0000"}', 422, "took_other", None),
        (b'{"took_other": "\\u202e"}', 422, "took_other", None),
        (b'{"happened": "yesterday"}', 422, "happened", "yesterday"),
        (b'{"reward": 1, "happened": "2026-03-01T09:30:00"}', 422, "happened", None),
        (b'{"reward": 1, "happened": "9999-12-31T23:59:59-23:59"}', 422, "happened", None),
        (b'{"reward": 1, "happened": "0001-01-01T00:00:00+23:59"}', 422, "happened", None),
        (b'{"reward": 1, "rewrad": 1}', 422, "rewrad", None),
        (b"{}", 422, "report", None),
    ],
)
def test_bad_reports(service: Service, trial: str, body: bytes, status: int, field: str, value: str | None) -> None:
    path = f"/trials/{trial}/recommendations/{service.ids(trial)[0]}/reports"
    said = problem(service.send("POST", path, body, role="site"), status)
    assert said["field"] == field
    if value is not None:
        assert said["value"] == value
    if status == 422:
        assert said["expected"]
        assert not said["expected"].startswith(("Invalid", "Number", "Integer"))  # as the decoder puts it


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("recommendations/ID/reports", b'{"reward": -1e400}', "a number from 0 to 1"),
        ("recommendations/ID/reports", b'{"happened": "0000-00-00"}', "a time such as 2026-03-01T09:30:00Z"),
        ("recommendations/ID/corrections", b'{"reason": "r", "retract": ["x"]}', "actual, reward or withdrawal"),
    ],
)
def test_what_is_expected_is_in_words(service: Service, trial: str, path: str, body: bytes, expected: str) -> None:
    path = path.replace("ID", service.ids(trial)[0])
    said = problem(service.send("POST", f"/trials/{trial}/{path}", body, role="site"), 422)
    assert said["expected"] == expected
    assert said["value"] in said["detail"]


@pytest.mark.usefixtures("_unchanged")
@pytest.mark.parametrize("subject", ["", " ", "a\nb", "a\u200b", "\ufffe", "x" * 201, "\U000e0001", None, 7, ["S"]])
def test_bad_subjects(service: Service, trial: str, subject: Any) -> None:
    reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": subject}, role="site")
    assert problem(reply, 422)["field"] == "subject"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"policy": "tompson"}, "policy"),
        ({"policy": "hierarchical(" * 70}, "policy"),
        ({"arms": ["walk"]}, "arms"),
        ({"arms": ["walk", "walk"]}, "arms"),
        ({"arms": ["walk", 2]}, "arms[1]"),
        ({"arms": [f"arm {number}" for number in range(101)]}, "arms"),
        ({"name": "a/b"}, "name"),
        ({"name": "tab\t"}, "name"),
        ({"seed": -1, "rehearsal": True}, "seed"),
        ({"seed": 2**70, "rehearsal": True}, "seed"),
        ({"seed": 1.5, "rehearsal": True}, "seed"),
        ({"seed": 7}, "seed"),
        ({"seed": "7", "blinded": True}, "seed"),
        ({"n_patients": 0}, "n_patients"),
        ({"n_patients": 10**30}, "n_patients"),
        ({"reward_values": [2]}, "reward_values[0]"),
        ({"reward_values": []}, "reward_values"),
        ({"impute": {"after_days": -1}}, "impute.after_days"),
        ({"impute": {"after_days": 1}}, "impute"),
        ({"impute": {"after_days": 1, "when": 2}}, "impute.when"),
        ({"control": "tea"}, "control"),
        ({"looks": {"at": [5, 5]}}, "looks.at"),
        ({"looks": {"at": [5, "six"]}}, "looks.at[1]"),
        ({"looks": {"every": 5, "at": [5]}}, "looks.at"),
        ({"update": "at looks"}, "update"),
        ({"update": "daily"}, "update"),
        ({"stopping": {"superiority": 0.9}}, "stopping.by"),
        ({"stopping": {"by": "posterior", "superiority": 0.4, "inferiority": 0.6}}, "stopping.inferiority"),
        ({"stopping": {"by": "belief", "superiority": 0.9}}, "stopping.by"),
        ({"strata": ["young", "old"]}, "policy"),
        ({"policy": "burn-in(thompson)"}, "policy"),
        ({"delay": {"by_arm": {"tea": 1}}}, "delay.by_arm"),
        ({"delay": {"by_arm": {"walk": "soon"}}}, "delay.by_arm"),
        ({"missing": {"outcome": {"rate": 2}}}, "missing.outcome.rate"),
        ({"enrolment": {"per_day": 0}}, "enrolment.per_day"),
    ],
)
def test_bad_designs(service: Service, change: dict[str, Any], field: str) -> None:
    design = {"name": "never made", "policy": "exp3", "arms": ["walk", "aspirin"], "n_patients": 10, **change}
    reply = service.send("POST", "/trials", design)
    said = problem(reply, 422)
    assert said["field"] == field
    assert "never made" not in service.client().trials()


@pytest.mark.parametrize(
    ("token", "field"),
    [
        ({"role": "king"}, "role"),
        ({"role": "site"}, "site"),
        ({"role": "site", "site": "a/b"}, "site"),
        ({"role": "admin", "site": "A"}, "site"),
        ({"role": "statistician", "site": "A"}, "site"),
        ({"role": "admin", "trial": "x"}, "trial"),
        ({"role": "admin", "label": "\x00"}, "label"),
    ],
)
def test_bad_tokens(service: Service, token: dict[str, Any], field: str) -> None:
    before = len(service.client().tokens())
    reply = service.send("POST", "/tokens", {"label": "x", **token})
    assert problem(reply, 422)["field"] == field
    assert len(service.client().tokens()) == before


@pytest.mark.usefixtures("_unchanged")
@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a b", "ü"])
def test_requests_that_write_need_an_id(service: Service, trial: str, key: str) -> None:
    path = f"/trials/{trial}/recommendations"
    reply = service.send("POST", path, {"subject": "S"}, headers={"Idempotency-Key": key}, role="site")
    assert problem(reply, 400)["field"] == "Idempotency-Key"


@pytest.mark.usefixtures("_unchanged")
@pytest.mark.parametrize("media", ["", "text/plain", "application/jsonx", "application/x-www-form-urlencoded"])
def test_bodies_must_be_json(service: Service, trial: str, media: str) -> None:
    path = f"/trials/{trial}/recommendations"
    reply = service.send("POST", path, {"subject": "S"}, headers={"Content-Type": media}, role="site")
    assert problem(reply, 415)["expected"] == "application/json"


def test_a_charset_may_be_said(service: Service, trial: str) -> None:
    media = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert (
        service.send("POST", f"/trials/{trial}/recommendations", {"subject": "S"}, role="site", headers=media).status
        == 201
    )


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/trials/",
        "//trials",
        "/trials/x/y",
        "/trials/%ff",
        "/trials/a%2Fb/results",
        "/trials/nowhere",
        "/trials/%00",
        "/trials/%E2%80%AE",
        "/openapi.json/",
    ],
)
def test_there_is_nothing_elsewhere(service: Service, path: str) -> None:
    problem(service.send("GET", path), 404)


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "1e3", "%D9%A3", "9" * 20, "0x1", "+1", "1%20"])
def test_what_is_no_number_names_no_token_and_no_recommendation(service: Service, trial: str, number: str) -> None:
    problem(service.send("GET", f"/trials/{trial}/recommendations/{number}"), 404)
    problem(service.send("DELETE", f"/tokens/{number}"), 404)


@pytest.mark.parametrize(
    "text", ["0", "1", UNKNOWN_ID, UNKNOWN_ID[:-1], UNKNOWN_ID + "0", "UUUU-" * 3 + "UUUU", "٠" * 16, "%00" * 16]
)
def test_what_is_no_id_of_this_trial_names_no_recommendation(service: Service, trial: str, text: str) -> None:
    path = f"/trials/{trial}/recommendations/{quote(text, safe='%')}"
    assert problem(service.send("GET", f"{path}/derivation"), 404)["field"] == "recommendation"
    for method, rest, body in (("GET", "", None), ("POST", "/reports", {"reward": 1})):
        said = problem(service.send(method, path + rest, body, role="site"), 404)
        assert said["field"] == "recommendation"
        assert "is not known here" in said["detail"]
        assert "do not send it again" in said["detail"]  # what to do if a restore lost it


def test_an_id_may_be_typed_as_people_do(service: Service, trial: str) -> None:
    (made, *_) = service.ids(trial)
    for text in (made, made.lower(), made.replace("-", ""), made.replace("-", "%20"), made.replace("0", "o")):
        reply = service.send("GET", f"/trials/{trial}/recommendations/{text}", role="site")
        assert (reply.status, reply.json["recommendation_id"]) == (200, made)


def test_other_methods_are_refused_by_name(service: Service, trial: str) -> None:
    reply = service.send("PUT", f"/trials/{trial}")
    problem(reply, 405)
    assert reply.headers["allow"] == "GET, HEAD"
    assert service.send("DELETE", "/trials").headers["allow"] == "GET, HEAD, POST"
    assert service.send("HEAD", "/healthz").status == 200


@pytest.mark.parametrize("form", ["xlsx", "", "csv&format=log", "%ff"])
def test_exports_have_a_known_format(service: Service, trial: str, form: str) -> None:
    assert problem(service.send("GET", f"/trials/{trial}/export?format={form}"), 422)["field"] == "format"


@pytest.mark.usefixtures("_unchanged")
def test_a_body_that_is_too_large_is_not_read(service: Service, trial: str) -> None:
    large = b'{"subject": "' + b"x" * (64 * 1024) + b'"}'
    problem(service.send("POST", f"/trials/{trial}/recommendations", large, role="site"), 413)


@pytest.mark.usefixtures("_unchanged")
def test_a_body_of_unknown_length_is_counted_as_it_comes(service: Service, trial: str) -> None:
    head = (
        f"POST /trials/{trial}/recommendations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.admin}\r\n"
        "Idempotency-Key: k\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    answer = service.raw(head.encode(), chunk * 40)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in answer


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"POST /trials HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /trials HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 200_000,
    ],
)
def test_what_is_no_http_gets_a_problem_too(service: Service, data: bytes) -> None:
    answer = service.raw(data)
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert b"application/problem+json" in answer


def test_a_header_that_matters_may_come_once(service: Service) -> None:
    one = f"Authorization: Bearer {service.admin}\r\n"
    twice = f"GET /trials HTTP/1.1\r\nHost: x\r\n{one}{one}\r\n"
    assert service.raw(twice.encode()).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_goes_away_midway_leaves_nothing(service: Service, trial: str) -> None:
    head = (
        f"POST /trials/{trial}/recommendations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.admin}\r\n"
        "Idempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    before = service.client().trial(trial).head
    service.raw(head.encode())
    assert service.client().trial(trial).head == before
