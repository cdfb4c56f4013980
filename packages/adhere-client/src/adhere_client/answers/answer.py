"""The base of all answers, and the answer to what is written."""

from __future__ import annotations

from typing import Any

import msgspec


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The base of all answers.

    >>> Recorded(record=7, recommendation_id=2).to_json()
    '{"record":7,"recommendation_id":2}'
    """

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, numbers and texts, as the service sent them; `json.dumps` takes them."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def to_json(self) -> str:
        """The answer in JSON, as the service sent it."""
        return msgspec.json.encode(self).decode()


class Recorded(Answer, frozen=True):
    """Where in the trial's log something was written, and about which recommendation."""

    record: int
    recommendation_id: int | None = None
