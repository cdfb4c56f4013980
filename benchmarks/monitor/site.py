"""A site's client: one connection, one request after the other, each timed."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from typing import Any


class Site:
    """One connection to the service."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[float, Any]:
        """Milliseconds until the answer was there, and the answer."""
        data = None if body is None else json.dumps(body)
        headers = {**self._headers, "Idempotency-Key": str(uuid.uuid4())}
        begun = time.perf_counter()
        self._connection.request(method, path, data, headers)
        reply = self._connection.getresponse()
        text = reply.read()
        taken = 1e3 * (time.perf_counter() - begun)
        assert reply.status < 300, (path, reply.status, text)
        return taken, json.loads(text)

    def recommend(self, trial: str) -> tuple[float, Any]:
        """A recommendation for a new subject."""
        return self.send("POST", f"/trials/{trial}/recommendations", {"subject": uuid.uuid4().hex})
