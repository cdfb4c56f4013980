"""The base of all answers, and the answer to what is written."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The base of all answers.

    >>> from datetime import UTC, datetime
    >>> Recorded(datetime(2026, 3, 1, tzinfo=UTC), recommendation_id="4K7T-9QXA-M98F-RJCB").to_json()
    '{"at":"2026-03-01T00:00:00Z","recommendation_id":"4K7T-9QXA-M98F-RJCB"}'
    """

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, numbers and texts, as the service sent them; `json.dumps` takes them."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def to_json(self) -> str:
        """The answer in JSON, as the service sent it."""
        return msgspec.json.encode(self).decode()


class Recorded(Answer, frozen=True):
    """When something was written to the trial's log, and about which recommendation; a site is not told where."""

    at: datetime
    record: int | None = None
    recommendation_id: str | None = None
