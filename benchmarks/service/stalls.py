"""Does slow work hold up everybody else? python -m benchmarks.service.stalls [--rounds N] [--seconds S].

200 pairs a second are due on four trials, open loop: alone, then while a client corrects an early report of another
trial of 100,000 records again and again, in turn; and so beside five clients that export that trial. Prints, round by
round, the 99th percentiles and their ratio, and those of /healthz and /readyz during the slow work.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.service.corrections import build
from benchmarks.service.load import Generator
from benchmarks.service.subjects import ARMS, THOMPSON, Driven, prepare, serving_adhere

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.writing.processor import CommandProcessor

_LONG = "trial"  # as `build` calls it
_OTHERS = ("a", "b", "c", "d")
_HEALTH = ("/healthz", "/readyz")
_BETWEEN_PROBES = 0.02  # seconds
_WARM_UP = 2.0
_EARLY = 1000  # reports that are corrected, the first of the trial
_MOST_RATIO, _MOST_HEALTH_MS = 2.0, 100.0


@dataclass
class Beside:
    """What happened beside the load: slow requests answered, and milliseconds of each probe of health."""

    done: int = 0
    health: dict[str, list[float]] = field(default_factory=lambda: {path: [] for path in _HEALTH})


class Slow:
    """Clients that send slow requests one after the other, and one that asks for the service's health."""

    def __init__(self, port: int, senders: Sequence[Callable[[http.client.HTTPConnection], None]]) -> None:
        self._port, self._senders = port, senders
        self._over = threading.Event()
        self.beside = Beside()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Send for as long as the block lasts."""
        threads = [threading.Thread(target=self._send, args=(sender,)) for sender in self._senders]
        threads.append(threading.Thread(target=self._probe))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _send(self, sender: Callable[[http.client.HTTPConnection], None]) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)) as connection:
            while not self._over.is_set():
                sender(connection)
                self.beside.done += 1

    def _probe(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)) as connection:
            while not self._over.wait(_BETWEEN_PROBES):
                for path, found in self.beside.health.items():
                    begin = time.perf_counter()
                    answered(connection, "GET", path, {}, None, 200)
                    found.append(1e3 * (time.perf_counter() - begin))


def answered(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: object,
    status: int,
) -> None:
    """Send a request and read its answer, which must have a status."""
    sent = None if body is None else json.dumps(body)
    connection.request(method, path, sent, {**headers, "content-type": "application/json"})
    response = connection.getresponse()
    while response.read(1 << 16):
        pass
    if response.status != status:
        raise RuntimeError(f"{method} {path}: {response.status}, not {status}")


def corrector(token: str, ids: Sequence[str]) -> Callable[[http.client.HTTPConnection], None]:
    """Corrects the first reports in turn: one that was corrected a thousand times would have a long history."""
    turns = itertools.count()

    def correct(connection: http.client.HTTPConnection) -> None:
        turn = next(turns)
        headers = {"authorization": f"Bearer {token}", "idempotency-key": f"stall-{time.time_ns()}"}
        path = f"/trials/{_LONG}/recommendations/{ids[turn % len(ids)]}/corrections"
        body = {"reward": float(turn // len(ids) % 2), "reason": "a slip"}
        answered(connection, "POST", path, headers, body, 201)

    return correct


def exporter(token: str) -> Callable[[http.client.HTTPConnection], None]:
    """Exports the long trial."""

    def export(connection: http.client.HTTPConnection) -> None:
        answered(connection, "GET", f"/trials/{_LONG}/export", {"authorization": f"Bearer {token}"}, None, 200)

    return export


def p99(values: Sequence[float]) -> float:
    """The 99th percentile."""
    return sorted(values)[int(0.99 * (len(values) - 1))]


def measure(
    driven: Driven,
    name: str,
    senders: Sequence[Callable[[http.client.HTTPConnection], None]],
    given: argparse.Namespace,
) -> bool:
    """Rounds without and with one kind of slow work; whether it stays within the bars."""
    ratios: list[float] = []
    health: dict[str, list[float]] = {path: [] for path in _HEALTH}
    for number in range(1, given.rounds + 1):
        alone = driven.load(_OTHERS, seconds=given.seconds, rate=given.rate).overall
        slow = Slow(driven.server.port, senders)
        with slow.under_way():
            beside = driven.load(_OTHERS, seconds=given.seconds, rate=given.rate).overall
        assert alone is not None
        assert beside is not None
        ratios.append(beside.p99 / alone.p99)
        for path, found in slow.beside.health.items():
            health[path] += found
        print(
            f"{name} {number}: p99 {alone.p99:.2f} ms alone, {beside.p99:.2f} ms beside {slow.beside.done} of them: "
            f"ratio {ratios[-1]:.2f} (p50 {alone.p50:.2f}, {beside.p50:.2f}; max {alone.max:.1f}, {beside.max:.1f})",
            flush=True,
        )
    told = ", ".join(f"{path} {p99(found):.1f} ms" for path, found in health.items())
    good = median(ratios) <= _MOST_RATIO and all(p99(found) <= _MOST_HEALTH_MS for found in health.values())
    print(f"{name}: median ratio {median(ratios):.2f} (bar {_MOST_RATIO:g}), p99 of {told} (bar {_MOST_HEALTH_MS:g})")
    return good


def main() -> int:
    """Build, serve, measure; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.stalls")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each load, twice a round")
    parser.add_argument("--rate", type=float, default=200.0, help="pairs a second")
    parser.add_argument("--pairs", type=int, default=50_000, help="of the long trial: half its records")
    parser.add_argument("--exporters", type=int, default=5, help="clients that export, each with a token of its own")
    parser.add_argument("--only", choices=("corrections", "exports"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="adhere-bench-") as folder:
        file = Path(folder) / "trials.db"
        site = prepare(file, dict.fromkeys(_OTHERS, THOMPSON))
        with closing(open_store(file)) as store:
            processor = CommandProcessor(store)
            processor.create(make_design(_LONG, THOMPSON, ARMS))
            early = build(processor, given.pairs)[:_EARLY]
            tokens = [Tokens(store).make("statistician", f"exporter {n}")[1] for n in range(given.exporters)]
            admin = Tokens(store).make("admin", "corrector")[1]
        generator = Generator.compiled_in(Path(folder))
        with serving_adhere(file) as server:
            driven = Driven(generator, server, site)
            driven.load(_OTHERS, seconds=_WARM_UP, rate=given.rate)
            kinds = {"corrections": [corrector(admin, early)], "exports": [exporter(token) for token in tokens]}
            chosen = {name: senders for name, senders in kinds.items() if given.only in (None, name)}
            good = [measure(driven, name, senders, given) for name, senders in chosen.items()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
