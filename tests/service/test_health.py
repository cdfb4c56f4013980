"""Logs and metrics: they tell what happened, and nothing of whom."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from adhere.service.logs import JsonLines
from adhere.service.settings import ServiceSettings
from adhere.store import StoreError, open_store
from service.serving import Service, in_file, in_thread

SECRETS = ("S-secret", "trial-", "adh_", "key-secret", "moved to Oslo")


class Lines(logging.Handler):
    """Keeps what would be written."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def logged() -> Iterator[Lines]:
    lines, root = Lines(), logging.getLogger()
    before = root.level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    yield lines
    root.setLevel(before)
    root.removeHandler(lines)


def test_logs_and_metrics_name_nobody(service: Service, logged: Lines) -> None:
    trial = service.new_trial()
    path = f"/trials/{trial}/recommendations"
    made = service.send("POST", path, {"subject": "S-secret"}, role="site", key="key-secret")
    assert made.status == 201
    recommendation_id = made.json["recommendation_id"]
    for body in ({"actual": "S-secret"}, {"took_other": "moved to Oslo"}, {"S-secret": 1}):
        service.send("POST", f"{path}/{recommendation_id}/reports", body, role="site", key="key-secret-2")
    service.send("GET", "/trials/S-secret")
    service.send("GET", "/S-secret")
    service.send("GET", "/trials", role=None, headers={"Authorization": "Bearer adh_S-secret"})
    metrics = service.send("GET", "/metrics", role="metrics").body.decode()
    written = "\n".join(logged.lines)
    for secret in (*SECRETS, recommendation_id, recommendation_id.replace("-", "")):
        assert secret not in metrics
        assert secret not in written
    lines = [json.loads(line) for line in logged.lines]
    requests = [line for line in lines if line["logger"] == "adhere.access"]
    assert {line["status"] for line in requests} >= {201, 401, 404, 422}
    refused = next(line for line in requests if line["status"] == 422)
    assert refused["route"] == "/trials/{trial}/recommendations/{recommendation_id}/reports"
    assert refused["level"] == "info"
    assert refused["token"] > 0
    accepted = [
        line for line in requests if line["status"] == 201 and line["route"] != "/trials"
    ]  # that one compiles
    assert accepted[0]["level"] == "debug"


def test_an_error_nobody_foresaw_is_a_problem_and_told_without_its_words(
    service: Service, logged: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("S-secret")

    assert service.store is not None
    monkeypatch.setattr(type(service.store), "reading", broken)
    reply = service.send("GET", "/trials")
    assert reply.status == 500
    assert reply.headers["content-type"] == "application/problem+json"
    assert b"S-secret" not in reply.body
    (line,) = [json.loads(line) for line in logged.lines if "RuntimeError" in line]
    assert line["level"] == "error"
    assert any("broken" in place for place in line["at"])
    assert "S-secret" not in str(line)


def test_metrics_count(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        trial = service.new_trial()
        for subject in ("S-1", "S-2", "S-3"):
            service.client().recommend(trial, subject)
        service.send("POST", f"/trials/{trial}/recommendations", {})
        text = service.send("GET", "/metrics", role="metrics").body.decode()
    route = 'route="/trials/{trial}/recommendations"'
    assert re.search(rf'adhere_http_requests_total{{method="POST",{re.escape(route)},status="201"}} 3\.0', text)
    assert re.search(rf'adhere_http_requests_total{{method="POST",{re.escape(route)},status="422"}} 1\.0', text)
    assert re.search(rf'adhere_http_request_seconds_count{{method="POST",{re.escape(route)}}} 4\.0', text)
    assert "adhere_commits_total 3.0" in text
    assert "adhere_commit_requests_sum 3.0" in text
    assert 'adhere_refused_requests_total{kind="invalid"} 1.0' in text
    assert "adhere_fallbacks_total 0.0" in text


def test_metrics_are_for_a_token_of_their_own_unless_a_setting_opens_them(service: Service, tmp_path: Path) -> None:
    assert service.send("GET", "/metrics", role=None).status == 401
    for role, status in {"site": 403, "statistician": 403, "metrics": 200, "admin": 200}.items():
        assert service.send("GET", "/metrics", role=role).status == status
    for path in ("/trials", f"/trials/{service.new_trial()}", "/tokens"):
        assert service.send("GET", path, role="metrics").status == 403
    for field, value in {"site": "A", "trial": service.new_trial()}.items():
        body = {"role": "metrics", "label": "Prometheus", field: value}
        assert service.send("POST", "/tokens", body).json["field"] == field
    with in_file(tmp_path / "trials.db", ServiceSettings(metrics_open=True)) as opened:
        assert opened.send("GET", "/metrics", role=None).status == 200
        document = opened.send("GET", "/openapi.json", role=None).json
        assert document["paths"]["/metrics"]["get"]["security"] == []


@pytest.mark.filterwarnings("ignore:overflow encountered")  # random words wrap around, as they should
def test_a_policy_that_fails_is_counted_and_patients_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adhere.trial.policy.engine import Engine

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    with in_file(tmp_path / "trials.db") as service:
        trial = service.new_trial()
        monkeypatch.setattr(Engine, "choose", fails)
        assert service.client().recommend(trial, "S-1").arm
        assert b"adhere_fallbacks_total 1.0" in service.send("GET", "/metrics", role="metrics").body
        assert service.client().results(trial).fallbacks == 1


def test_a_store_that_fails_answers_try_again_and_the_service_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "trials.db")
    with in_thread(store, ServiceSettings()) as service:
        trial = service.new_trial()
        assert service.send("GET", "/readyz", role=None).status == 200

        def full(**_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(store, "writing", full)
            reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "S-1"})
            assert reply.status == 503
            assert reply.headers["retry-after"] == "1"
            assert reply.headers["content-type"] == "application/problem+json"
            assert service.send("GET", "/readyz", role=None).status == 503
            assert service.send("GET", "/healthz", role=None).status == 200
        made = service.client().recommend(trial, "S-1").id
        assert service.ids(trial) == [made]
        assert service.send("GET", "/readyz", role=None).status == 200
