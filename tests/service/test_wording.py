"""What a refused request is told: one plain sentence that names the field, the value and what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from service.serving import Service
from trial.live import UNKNOWN_ID

TRIALS, TOKENS = "/trials", "/tokens"
DESIGN: dict[str, Any] = {"name": "never made", "policy": "uniform", "arms": ["walk", "aspirin"]}
NEEDS_PATIENTS = "this policy needs n_patients=… (the number of patients), to set EXP3's γ"


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    name = service.new_trial()
    client = service.client("site")
    client.report(name, client.recommend(name, "S-1").id, actual="walk", reward=1)
    return name


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        ("recommendations", b'{"subjct": "S"}', 422, "unknown field 'subjct'; did you mean 'subject'?"),
        (
            "recommendations",
            b'{"x": "S"}',
            422,
            "unknown field 'x'; known are subject, stratum, site, again, refuse_alike",
        ),
        ("recommendations", b"{}", 422, "the field 'subject' is missing"),
        ("recommendations", b'{"subject": "S", "subject": "T"}', 422, "'subject' is given twice"),
        ("recommendations", b'{"subject": "S", "sub\\u006aect": "T"}', 422, "'subject' is given twice"),
        ("recommendations", b'{"subject": 7}', 422, "subject: got 7, expected text"),
        (
            "recommendations",
            b'{"subject": "' + b"x" * 250 + b'"}',
            422,
            f"subject: got '{'x' * 119}…', expected at most 200 characters (got 250)",
        ),
        ("recommendations", b'{"subject": null}', 422, "subject: got null, expected text"),
        ("recommendations", b'{"subject": ["S"]}', 422, "subject: got a list, expected text"),
        (
            "recommendations",
            b'{"subject": "a\\nb"}',
            422,
            "subject: got 'a\\nb', expected visible characters, not U+000A",
        ),
        ("recommendations", b'{"subject": ""}', 422, "subject: got '', expected text that is not empty"),
        ("recommendations", b"", 400, "the body is empty; send a JSON object"),
        ("recommendations", b"[1]", 422, "body: expected an object"),
        ("recommendations", b'{"a": x}', 400, "the body is not valid JSON: line 1, column 7"),
        ("recommendations", b'{\n  "\xc3\xa9": x}', 400, "the body is not valid JSON: line 2, column 8"),
        (
            "recommendations",
            b'{"subject": ',
            400,
            "the body is not valid JSON: line 1, column 13",
        ),
        ("recommendations", b'{"subject": "\xff"}', 400, "the body is not valid UTF-8: line 1, column 14"),
        ("recommendations/ID/reports", b'{"reward": 1.5}', 422, "reward: got 1.5, expected a number from 0 to 1"),
        (
            "recommendations/ID/reports",
            b'{"reward": "1"}',
            422,
            "reward: got '1', expected a number from 0 to 1, true or false",
        ),
        (
            "recommendations/ID/reports",
            b'{"reward": 0}',
            409,
            "reward: conflicts with an earlier report for recommendation ID: got 0, before 1; "
            "to change it, send a correction",
        ),
        (
            "recommendations/ID/reports",
            b'{"actual": "aspirin"}',
            409,
            "actual: conflicts with an earlier report for recommendation ID: got 'aspirin', before 'walk'; "
            "to change it, send a correction",
        ),
        (
            "recommendations/ID/corrections",
            b'{"reason": "r", "retract": ["x"]}',
            422,
            "retract[0]: got 'x', expected actual, reward or withdrawal",
        ),
    ],
)
def test_bodies(service: Service, trial: str, path: str, body: bytes, status: int, detail: str) -> None:
    (made,) = service.ids(trial)
    reply = service.send("POST", f"/trials/{trial}/{path.replace('ID', made)}", body, role="site")
    assert (reply.status, reply.json["detail"]) == (status, detail.replace("ID", made))


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        (
            TOKENS,
            {"role": "king", "label": "x"},
            "role: got 'king', expected admin, coordinator, metrics, site or statistician",
        ),
        (TRIALS, {**DESIGN, "arms": ["a", "b", "a"]}, "arms: 'a' is listed twice"),
        (TRIALS, {**DESIGN, "policy": "exp3"}, NEEDS_PATIENTS),
        (TRIALS, {**DESIGN, "policy": "hierarchical(thompson)"}, NEEDS_PATIENTS),
        (
            TRIALS,
            {**DESIGN, "impute": {"after_dys": 1}},
            "unknown field 'impute.after_dys'; did you mean 'after_days'?",
        ),
    ],
)
def test_what_a_trial_or_token_needs(service: Service, path: str, body: Any, detail: str) -> None:
    reply = service.send("POST", path, body)
    assert (reply.status, reply.json["detail"]) == (422, detail)


def test_a_policy_that_needs_the_number_of_patients_names_that_field(service: Service) -> None:
    said = service.send("POST", TRIALS, {**DESIGN, "policy": "exp3"}).json
    assert (said["field"], said["expected"]) == ("n_patients", "the number of patients")


def test_a_missing_idempotency_key_says_why_and_how(service: Service, trial: str) -> None:
    reply = service.send(
        "POST", f"/trials/{trial}/recommendations", {"subject": "S"}, headers={"Idempotency-Key": ""}
    )
    assert reply.status == 400
    assert reply.json["detail"] == (
        "the header Idempotency-Key is missing: a request sent twice under one key is executed once; "
        "send a new one with each request and the same again with its repetition, "
        "e.g. Idempotency-Key: 3f0c9a52-6d1e-4f7b-9c58-2f1d7a40b6e1"
    )
    bad = service.send("POST", f"/trials/{trial}/recommendations", {}, headers={"Idempotency-Key": "a b"})
    assert bad.json["detail"] == (
        "Idempotency-Key: got 'a b', expected 1 to 200 visible ASCII characters, "
        "e.g. 3f0c9a52-6d1e-4f7b-9c58-2f1d7a40b6e1"
    )


def test_other_methods_and_paths(service: Service, trial: str) -> None:
    wrong = service.send("PUT", "/trials").json
    assert (wrong["title"], wrong["detail"]) == ("Method not allowed", "this path takes GET, HEAD, POST")
    nowhere = service.send("GET", "/trails").json
    assert (nowhere["title"], nowhere["detail"]) == (
        "Not found",
        "there is nothing at this path; GET / says what there is",
    )
    for given, shown in ((UNKNOWN_ID, f"'{UNKNOWN_ID}'"), ("7", "'7'"), ("x" * 200, f"'{'x' * 119}…'")):
        unknown = service.send("GET", f"/trials/{trial}/recommendations/{given}", role="site").json
        assert unknown["title"] == "Not found"
        assert unknown["detail"] == (
            f"recommendation {shown} is not known here: check the ID. If it was given out before a backup was "
            "restored, do not send it again, and tell whoever runs the trial what was given to the subject"
        )


def test_a_header_is_sent_once(service: Service) -> None:
    one = f"Authorization: Bearer {service.admin}\r\n"
    answer = service.raw(f"GET /trials HTTP/1.1\r\nHost: x\r\n{one}{one}\r\n".encode())
    assert b"authorization came twice; send this header once" in answer
    assert b'"expected":"one authorization"' in answer
