"""Several processes on one PostgreSQL."""

from __future__ import annotations

import http.client
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from adhere.client import Client
from adhere.service.pages.handle_page import COOKIE
from adhere.store import open_store
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from service.pages.person import Person, sign_in
from service.serving import ARMS, as_process, wait_until

MANY = 8  # connections, which the system gives to both workers


@pytest.mark.slow
def test_two_workers_share_trials_tokens_and_counts(database_url: str, tmp_path: Path) -> None:
    with as_process(database_url, tmp_path, "--workers", "2", "--root-path", "/under") as running:
        service = running.service
        wait_until(lambda: _answers(service.url, service.admin), 60)
        service.client().create_trial("t", "uniform", ARMS)

        def ask(number: int) -> str:
            # A connection of its own each time, so that both workers are met.
            return Client(service.url, service.admin).recommend("t", f"S-{number}").id

        def statuses(role: str) -> set[int]:
            return {service.send("GET", "/under/trials", role=role).status for _ in range(6)}

        with ThreadPoolExecutor(8) as pool:
            ids = set(pool.map(ask, range(60)))
        assert len(ids) == 60
        made = service.client().make_token("statistician", "to be revoked")
        service.tokens["revoked"] = made.token
        assert statuses("revoked") == {200}
        service.client().revoke_token(made.id)
        wait_until(lambda: 200 not in statuses("revoked"))
        text = service.send("GET", "/metrics").body.decode()
        route = re.escape('route="/trials/{trial}/recommendations"')
        counted = re.search(rf'adhere_http_requests_total{{method="POST",{route},status="201"}} (\S+)', text)
        assert counted is not None
        assert float(counted.group(1)) == 60
        code, errors = running.stop(signal.SIGTERM)
        assert code == 0, errors
    store = open_store(database_url, read_only=True)
    with store.reading() as view:
        assert verify(view, view.trials()["t"]).fault is None
        events = [decode(record.body) for record in walk(view, view.trials()["t"])]
        assert replay(view, view.trials()["t"]).difference is None  # both drew by the same secret
    store.close()
    logged = [event for event in events if isinstance(event, Recommended)]
    assert [event.recommendation_index for event in logged] == list(range(60))
    assert {event.recommendation_id for event in logged} == ids


@pytest.mark.slow
def test_two_workers_share_sessions_changes_and_simulations(database_url: str, tmp_path: Path) -> None:
    with as_process(database_url, tmp_path, "--workers", "2") as running, ExitStack() as stack:
        service = running.service
        wait_until(lambda: _answers(service.url, service.admin), 60)
        service.client().create_trial("t", "uniform", ARMS, n_patients=50)
        person = sign_in(service, "statistician")
        assert {person.get("/app/trials/t").status for _ in range(MANY)} == {200}
        nurse = sign_in(service, "site")
        for key, subject, status in (("one", "S-01", 303), ("one", "S-01", 303), ("two", "S-O1", 200)):
            asked = nurse.send("/app/trials/t/site", {"subject": subject, "key": key})
            assert asked.status == status, asked.body
        assert b"looks like one of this site" in asked.body

        streams = [stack.enter_context(closing(_Stream(person, "/app/trials/t/monitor/events"))) for _ in range(MANY)]
        before = {stream.next_head() for stream in streams}
        service.client("site").recommend("t", "S-1")
        assert before.isdisjoint({service.client().trial("t").head})
        assert {stream.next_head() for stream in streams} == {service.client().trial("t").head}

        design = {"name": "never made", "policy": "uniform", "arms": ARMS, "n_patients": 50}
        started = service.send("POST", "/simulations", {"design": design, "scenarios": {}, "n_trials": 20}).json
        path = f"/simulations/{started['id']}"
        wait_until(lambda: service.send("GET", path).json["state"] == "done", 60)
        found = [service.send("GET", path).json for _ in range(MANY)]
        assert all(one["scenarios"] == found[0]["scenarios"] for one in found)
        assert service.send("DELETE", path).status == 204
        assert {service.send("GET", path).status for _ in range(MANY)} == {404}

        assert person.send("/app/sign-out").status == 303
        wait_until(
            lambda: {person.get("/app/trials/t").status for _ in range(MANY)} == {303}
        )  # read anew now and then


class _Stream:
    """The events that a page listens to."""

    def __init__(self, person: Person, path: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", person.port, timeout=30)
        self._connection.request("GET", path, headers={"Cookie": f"{COOKIE}={person.secret}"})
        self._answer = self._connection.getresponse()

    def next_head(self) -> str:
        while not (line := self._answer.readline()).startswith(b"data: "):
            assert line, "the stream ended"
        return line.decode().removeprefix("data: ").strip()

    def close(self) -> None:
        self._connection.close()


def _answers(url: str, token: str) -> bool:
    return isinstance(Client(url, token).trials(), dict)
