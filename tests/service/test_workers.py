"""Several processes on one PostgreSQL."""

from __future__ import annotations

import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from adhere.client import Client
from adhere.store import open_store
from adhere.trial.log.chain import verify
from service.serving import ARMS, as_process, wait_until


def test_two_workers_share_trials_tokens_and_counts(database_url: str, tmp_path: Path) -> None:
    with as_process(database_url, tmp_path, "--workers", "2", "--root-path", "/under") as running:
        service = running.service
        wait_until(lambda: _answers(service.url, service.admin), 60)
        service.client().create_trial("t", "uniform", ARMS, seed=1)

        def ask(number: int) -> int:
            # A connection of its own each time, so that both workers are met.
            return Client(service.url, service.admin).recommend("t", f"S-{number}").id

        def statuses(role: str) -> set[int]:
            return {service.send("GET", "/under/trials", role=role).status for _ in range(6)}

        with ThreadPoolExecutor(8) as pool:
            numbers = list(pool.map(ask, range(60)))
        assert sorted(numbers) == list(range(60))
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
    store.close()


def _answers(url: str, token: str) -> bool:
    return isinstance(Client(url, token).trials(), dict)
