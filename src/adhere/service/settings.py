"""What can be set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How the service behaves; the defaults suit most.

    Rates are requests a second, bursts how many may come at once after a rest. Each worker counts for itself.
    """

    token_rate: float = 10_000.0
    token_burst: float = 20_000.0
    failure_rate: float = 2.0  # of requests without a valid token, for each address they come from
    failure_burst: float = 30.0
    examine_every: float = 60.0  # seconds between two looks for reports that are overdue
    refresh_every: float = 2.0  # seconds after which a token revoked by another process is refused here
    largest_body: int = 64 * 1024
    slow: float = 1.0  # seconds from which on a request is logged
