"""Too little address space: requests are answered 503, never 500, and writes go on once there is enough."""

from __future__ import annotations

import http.client
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from service.serving import ARMS, Process, Reply, Service, as_process, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit, as Linux has it")]
MIB = 2**20
GETS = "/ /app /healthz /readyz /metrics /openapi.json /tokens /trials /trials/t /trials/t/results /trials/t/export"
MORE_GETS = "/trials/t/monitor /trials/t/verify /trials/t/follow-up /trials/t/audit /trials/t/replay"
DESIGN = {"name": "x", "policy": "uniform", "arms": ["a", "b"], "n_patients": 50}


def limit(running: Process, n_bytes: int) -> None:
    resource.prlimit(running.process.pid, resource.RLIMIT_AS, (n_bytes, resource.RLIM_INFINITY))


def size(running: Process) -> int:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    found = re.search(r"VmSize:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) * 1024


def asked(running: Process, turn: str) -> Iterator[tuple[str, Reply | None]]:
    """Many kinds of requests, with the answers; None where the connection broke."""
    posts = [
        ("/trials/t/recommendations", {"subject": f"S-{turn}"}),
        ("/trials/blinded/recommendations", {"subject": f"S-{turn}"}),
        ("/trials", {"name": f"trial-{turn}", "policy": "uniform", "arms": ["a", "b"]}),
        ("/tokens", {"role": "statistician", "label": turn}),
        ("/simulations", {"design": DESIGN, "scenarios": {}, "n_trials": 20}),
        ("/explorations", {}),
    ]
    requests = [("GET", path, None) for path in f"{GETS} {MORE_GETS}".split()]
    for method, path, body in [*requests, *(("POST", *post) for post in posts)]:
        try:
            yield f"{method} {path}", running.service.send(method, path, body)
        except (OSError, http.client.HTTPException):
            yield f"{method} {path}", None


def check_answers(running: Process, turn: str) -> Counter[int]:
    """Nothing is answered 500, and whoever is refused is told to come back."""
    statuses: Counter[int] = Counter()
    for what, reply in asked(running, turn):
        if reply is None:
            continue
        statuses[reply.status] += 1
        if reply.status >= 500 and reply.status != 503:  # the cause stands at the end of the log
            pytest.fail(f"{what}: {reply}\n{running.errors.read_text()[-20_000:]}", pytrace=False)
        if reply.status == 503 and "/readyz" not in what:
            assert reply.headers["retry-after"], what
    return statuses


def answers(service: Service, path: str) -> bool:
    return service.send("GET", path).status == 200


def check_recovery(running: Process, turn: str) -> None:
    limit(running, resource.RLIM_INFINITY)
    service = running.service
    wait_until(lambda: service.send("POST", "/trials/t/recommendations", {"subject": turn}).status == 201, 30)
    wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200, 30)
    for path in ("/trials/t/results", "/trials/t/export", "/trials/t/monitor", "/trials"):
        # A transaction that began while memory was short may still be refused.
        wait_until(partial(answers, service, path), 30)
    made = {"name": f"after-{turn}", "policy": "ucb1", "arms": ["a", "b"]}
    assert service.send("POST", "/trials", made).status == 201
    assert "Traceback" not in running.errors.read_text()


def make_trials(running: Process) -> None:
    wait_until(lambda: running.service.send("GET", "/readyz", role=None).status == 200, 60)
    running.service.client().create_trial("t", "thompson/actual", ARMS)
    running.service.client().create_trial("blinded", "thompson", ARMS, blinded=True)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_service_that_gets_no_more(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    where = tmp_path / "trials.db" if kind == "sqlite" else request.getfixturevalue("database_url")
    with as_process(where, tmp_path) as running:
        make_trials(running)
        refused = 0
        for mib in (0, 1, 16, 64, 0):
            limit(running, size(running) + mib * MIB)
            for turn in range(2):
                refused += check_answers(running, f"{mib}-{turn}-{refused}")[503]
            check_recovery(running, f"then-{mib}-{refused}")
        assert refused


@pytest.mark.parametrize("mib", [900, 1024, 1228])
def test_a_service_that_starts_with_little(mib: int, tmp_path: Path) -> None:
    where = tmp_path / "trials.db"
    with as_process(where, tmp_path) as running:
        make_trials(running)
        token = running.service.admin
    with as_process(where, tmp_path, token=token, by=["prlimit", f"--as={mib * MIB}:"]) as running:
        wait_until(lambda: running.service.send("GET", "/readyz", role=None).status == 200, 60)
        check_answers(running, "little")
        check_recovery(running, "then")
