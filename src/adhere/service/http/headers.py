"""The headers of requests that the service uses; each may occur once, and none of them in trailers."""

from __future__ import annotations

from typing import Final

USED_HEADERS: Final = frozenset(
    {b"authorization", b"content-type", b"content-length", b"content-encoding", b"idempotency-key"}
)
