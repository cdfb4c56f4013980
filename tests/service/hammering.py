"""Clients that ask and report as fast as they can until the service dies, and remember what was acknowledged.

What was asked and not answered is asked again, under the same id, once there is a service again.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

DEAD = (OSError, http.client.HTTPException)


@dataclass
class Hammer:
    """One client: a site that recommends and reports, one after the other."""

    name: str
    token: str
    trial: str = "t"
    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)
    unanswered: tuple[str, str, dict[str, Any]] | None = None
    n_asked: int = 0
    refused: list[tuple[int, bytes]] = field(default_factory=list)

    def run(self, port: int, stop: threading.Event) -> None:
        """Go on until told to stop or until nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            if self.unanswered is not None:
                self._ask(connection, *self.unanswered)
            while not stop.is_set():
                self.n_asked += 1
                subject = {"subject": f"{self.name}-{self.n_asked}"}
                base = f"/trials/{self.trial}/recommendations"
                made = self._ask(connection, f"{self.name}-ask-{self.n_asked}", base, subject)
                said = {"actual": made["arm"], "reward": float(self.n_asked % 2)}
                number = made["recommendation_id"]
                self._ask(connection, f"{self.name}-tell-{self.n_asked}", f"{base}/{number}/reports", said)
        except DEAD:
            return
        finally:
            connection.close()

    def _ask(self, connection: http.client.HTTPConnection, key: str, path: str, body: dict[str, Any]) -> Any:
        self.unanswered = key, path, body
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Idempotency-Key": key,
            "Content-Type": "application/json",
        }
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 201:
            self.refused.append((answer.status, content))
            raise OSError(f"status {answer.status}")
        self.unanswered = None
        self.acknowledged[key] = json.loads(content)
        return self.acknowledged[key]


def n_acknowledged(hammers: list[Hammer]) -> int:
    return sum(len(hammer.acknowledged) for hammer in hammers)


def hammer_until_killed(hammers: list[Hammer], port: int, more: int, kill: Callable[[], None]) -> None:
    """Let all clients loose, kill the service once so many more requests were acknowledged, and wait for the end."""
    stop, enough = threading.Event(), n_acknowledged(hammers) + more
    threads = [threading.Thread(target=hammer.run, args=(port, stop)) for hammer in hammers]
    for thread in threads:
        thread.start()
    try:
        patience = time.monotonic() + 30.0
        while n_acknowledged(hammers) < enough and time.monotonic() < patience:
            time.sleep(0.001)
        kill()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
