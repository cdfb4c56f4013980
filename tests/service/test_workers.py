"""Several processes on one PostgreSQL."""

from __future__ import annotations

import re
import signal
from concurrent.futures import ThreadPoolExecutor

from adhere.client import Client
from adhere.store import open_store
from adhere.trial.chain import verify
from service.serving import ARMS, as_process, wait_until


def test_two_workers_share_trials_tokens_and_counts(database_url: str) -> None:
    with as_process(database_url, "--workers", "2") as running:
        service = running.service
        wait_until(lambda: _answers(service.url, service.admin), 60)
        service.client().create_trial("t", "uniform", ARMS, seed=1)

        def ask(number: int) -> int:
            # A connection of its own each time, so that both workers are met.
            return Client(service.url, service.admin).recommend("t", f"S-{number}").id

        with ThreadPoolExecutor(8) as pool:
            numbers = list(pool.map(ask, range(60)))
        assert sorted(numbers) == list(range(60))
        made = service.client().make_token("statistician", "to be revoked")
        service.tokens["revoked"] = made.token
        assert {service.send("GET", "/trials", role="revoked").status for _ in range(12)} == {200}
        service.client().revoke_token(made.id)
        wait_until(lambda: {service.send("GET", "/trials", role="revoked").status for _ in range(12)} == {401}, 10)
        text = service.send("GET", "/metrics", role=None).body.decode()
        counted = re.search(r'adhere_http_requests_total\{[^}]*recommendations"[^}]*status="201"\} (\S+)', text)
        assert counted is not None
        assert float(counted.group(1)) == 60
        code, errors = running.stop(signal.SIGTERM)
        assert code == 0, errors
    store = open_store(database_url, read_only=True)
    with store.reading() as view:
        assert verify(view, view.trials()["t"]).fault is None
    store.close()


def _answers(url: str, token: str) -> bool:
    return isinstance(Client(url, token).trials(), dict)
