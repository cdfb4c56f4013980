"""The clients of a soak: sites that never give up, a statistician who exports, and some who only sit there."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

from benchmarks.soak.house import ARMS, BLINDED, TRIALS, House

AGAIN = (408, 429, 503)  # and whenever nobody answers
_TIMEOUT = 20.0
_GIVE_UP = 120.0  # seconds without an answer after which a site calls it a failure


@dataclass
class Acknowledged:
    """A request that was answered, and the answer."""

    trial: str
    kind: str
    body: dict[str, Any]
    answer: dict[str, Any]


@dataclass
class Tally:
    """What all clients saw, under one lock."""

    statuses: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, Acknowledged] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    health: dict[str, list[float]] = field(default_factory=lambda: {"/healthz": [], "/readyz": []})
    longest: float = 0.0  # seconds from the first try of a request to its answer
    exports: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, status: object) -> None:
        """Count a status, or the kind of an error."""
        with self.lock:
            self.statuses[str(status)] += 1

    def problem(self, what: str) -> None:
        """Something that must not be."""
        with self.lock:
            self.problems.append(what)


class Asker:
    """One connection at a time to one of the processes; another one when it breaks."""

    def __init__(self, house: House, token: str, tally: Tally, rng: random.Random) -> None:
        self._house, self._token, self._tally, self._rng = house, token, tally, rng
        self._connection: HTTPConnection | None = None

    def once(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, bytes] | None:
        """The answer; None if the connection broke."""
        headers = {"Authorization": f"Bearer {self._token}"}
        if body is not None:
            headers |= {"Idempotency-Key": key, "Content-Type": "application/json"}
        try:
            if self._connection is None:
                self._connection = HTTPConnection("127.0.0.1", self._rng.choice(self._house.ports), timeout=_TIMEOUT)
            self._connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self._connection.getresponse()
            content = answer.read()
            if answer.getheader("connection") == "close":
                self.hang_up()
        except (OSError, HTTPException) as error:
            self.hang_up()
            self._tally.count("refused" if isinstance(error, ConnectionRefusedError) else "broken")
            return None
        self._tally.count(answer.status)
        return answer.status, content

    def hang_up(self) -> None:
        """Drop the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Site(threading.Thread):
    """Recommends, reports late, out of order, in parts, twice or never, corrects; sends until there is an answer."""

    def __init__(self, name: str, house: House, tally: Tally, seed: int, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self._rng, self._tally, self._stop_asked = random.Random(seed), tally, stop
        self._asker = Asker(house, house.site, tally, self._rng)
        self._n = 0
        self._waiting: list[tuple[str, str, str, set[str]]] = []  # trial, id, what to take, the parts still missing
        self._reported: list[tuple[str, str, str]] = []
        self._said: list[tuple[str, str, dict[str, Any], str, str]] = []

    def run(self) -> None:
        """Until told to stop; a request under way is asked until it is answered."""
        actions: list[tuple[int, Callable[[], None]]] = [
            (40, self._recommend),
            (44, self._report),
            (6, self._correct),
            (5, self._say_again),
            (3, self._contradict),
            (2, self._withdraw),
        ]
        weights, choices = zip(*actions, strict=True)
        try:
            while not self._stop_asked.is_set():
                self._rng.choices(choices, weights)[0]()
                time.sleep(0.005 * self._rng.random())
        except Exception as error:  # a client that fails must be seen
            self._tally.problem(f"{self.name}: {type(error).__name__}: {error}")
        finally:
            self._asker.hang_up()

    def _recommend(self) -> None:
        trial = self._rng.choice(TRIALS)
        self._n += 1
        body = {"subject": f"{self.name}-{self._n}"}
        answer = self._ask(trial, "recommend", f"/trials/{trial}/recommendations", body)
        if answer is not None:
            self._waiting.append((trial, answer["recommendation_id"], answer.get("kit") or answer["arm"], {"a", "r"}))

    def _report(self) -> None:
        if len(self._waiting) < 5:
            return
        index = self._rng.randrange(len(self._waiting))
        trial, number, arm, missing = self._waiting[index]
        parts = missing if self._rng.random() < 0.7 else {self._rng.choice(sorted(missing))}
        body = self._taken(trial, arm) if "a" in parts else {}
        if "r" in parts:
            body["reward"] = float(self._rng.random() < 0.5)
        if self._ask(trial, "report", f"/trials/{trial}/recommendations/{number}/reports", body) is None:
            return
        missing -= parts
        if not missing:
            del self._waiting[index]
            self._reported.append((trial, number, arm))
        elif self._rng.random() < 0.1:
            del self._waiting[index]  # never to be heard of again

    def _taken(self, trial: str, arm: str) -> dict[str, Any]:
        """What was taken: mostly as told."""
        u = self._rng.random()
        if u < 0.7:
            return {"actual": arm}
        if u < 0.8:
            return {"took_nothing": True}
        if u < 0.85:
            return {"took_other": f"something else {self._n}"}
        return {"actual": arm if trial == BLINDED else self._rng.choice(ARMS)}

    def _correct(self) -> None:
        if not self._reported:
            return
        # Often one of the first: that is what takes long.
        trial, number, arm = self._reported[int(self._rng.random() ** 3 * len(self._reported))]
        body = {"reason": "a slip", "reward": float(self._rng.random() < 0.5)}
        if self._rng.random() < 0.3:
            body |= self._taken(trial, arm)
        self._ask(trial, "correct", f"/trials/{trial}/recommendations/{number}/corrections", body)

    def _withdraw(self) -> None:
        if len(self._waiting) < 20:
            return
        trial, number, *_ = self._waiting.pop(self._rng.randrange(len(self._waiting)))
        self._ask(trial, "withdraw", f"/trials/{trial}/recommendations/{number}/withdrawal", {"reason": "lost"})

    def _say_again(self) -> None:
        """The same request under the same key must get the same answer."""
        if not self._said:
            return
        trial, path, body, kind, key = self._rng.choice(self._said)
        before = self._tally.acknowledged[key].answer
        again = self._ask(trial, kind, path, body, key)
        if again != before:
            self._tally.problem(f"{key} was answered {before}, then {again}")

    def _contradict(self) -> None:
        """Another request under a key that was used must be refused."""
        if not self._said:
            return
        trial, path, body, kind, key = self._rng.choice(self._said)
        if kind == "recommend":
            self._ask(trial, kind, path, body | {"subject": "somebody else"}, key, expected=409)

    def _ask(
        self, trial: str, kind: str, path: str, body: dict[str, Any], key: str = "", expected: int = 201
    ) -> dict[str, Any] | None:
        """The answer, however often it takes to ask."""
        if not key:
            self._n += 1
        used = key or f"{self.name}-{kind}-{self._n}"
        begin = time.monotonic()
        while True:
            answer = self._asker.once("POST", path, body, used)
            if answer is not None and answer[0] not in AGAIN:
                break
            if time.monotonic() > begin + _GIVE_UP:
                raise TimeoutError(f"{used} was not answered for {_GIVE_UP:g} s")
            self._asker.hang_up()
            time.sleep(0.05)
        status, content = answer
        with self._tally.lock:
            self._tally.longest = max(self._tally.longest, time.monotonic() - begin)
        if status != expected:
            self._tally.problem(f"{used}: {status} {content[:200].decode()}")
            return None
        said: dict[str, Any] = json.loads(content)
        if status == 201 and not key:
            with self._tally.lock:
                self._tally.acknowledged[used] = Acknowledged(trial, kind, body, said)
            self._said.append((trial, path, body, kind, used))
        return said


class Statistician(threading.Thread):
    """Reads results and exports, one after the other."""

    def __init__(self, house: House, tally: Tally, seed: int, stop: threading.Event) -> None:
        super().__init__(name="statistician", daemon=True)
        self._rng, self._tally, self._stop_asked = random.Random(seed), tally, stop
        self._asker = Asker(house, house.statistician, tally, self._rng)

    def run(self) -> None:
        """Until told to stop."""
        while not self._stop_asked.is_set():
            trial = self._rng.choice(TRIALS)
            what = self._rng.choice(("results", "export?format=csv", "export?format=log", "export?format=parquet"))
            answer = self._asker.once("GET", f"/trials/{trial}/{what}")
            if answer is None or answer[0] in AGAIN:
                time.sleep(0.2)
            elif answer[0] != 200:
                self._tally.problem(f"{what} of {trial}: {answer[0]} {answer[1][:200].decode()}")
            else:
                with self._tally.lock:
                    self._tally.exports += 1
                if what.endswith("log") and b'"line":"head"' not in answer[1].rstrip().rpartition(b"\n")[2]:
                    self._tally.problem(f"an exported log of {trial} is not whole")
        self._asker.hang_up()


class Prober(threading.Thread):
    """Asks for health and readiness some times a second; while the process is down nothing is counted."""

    def __init__(self, house: House, tally: Tally, stop: threading.Event) -> None:
        super().__init__(name="prober", daemon=True)
        self._house, self._tally, self._stop_asked = house, tally, stop

    def run(self) -> None:
        """Until told to stop."""
        while not self._stop_asked.is_set():
            for path, times in self._tally.health.items():
                begin = time.perf_counter()
                status = self._house.status(0, path)
                if status is not None:
                    times.append(time.perf_counter() - begin)
                    if status not in (200, 503):
                        self._tally.problem(f"{path}: {status}")
            time.sleep(0.1)


class Nuisance(threading.Thread):
    """A few clients that connect and say nothing, half a head, or a body byte by byte."""

    def __init__(self, house: House, seed: int, stop: threading.Event) -> None:
        super().__init__(name="nuisance", daemon=True)
        self._rng, self._house, self._stop_asked = random.Random(seed), house, stop

    def run(self) -> None:
        """Until told to stop."""
        begun = b"POST /trials/plain/recommendations HTTP/1.1\r\nhost: x\r\n"
        starts = (b"", begun, begun + b"content-length: 1000\r\n\r\n{")
        held: list[socket.socket] = []
        while not self._stop_asked.is_set():
            with suppress(OSError):
                connection = socket.create_connection(("127.0.0.1", self._rng.choice(self._house.ports)), timeout=1)
                connection.sendall(self._rng.choice(starts))
                held.append(connection)
            for connection in held:
                with suppress(OSError):
                    connection.sendall(b"x")
            if len(held) > 20:
                held.pop(0).close()
            time.sleep(0.25)
        for connection in held:
            connection.close()
