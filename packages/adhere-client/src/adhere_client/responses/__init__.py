"""Types of the responses. The service sends them, and the clients return them."""

from typing import Any

import msgspec


class Response(msgspec.Struct, frozen=True, omit_defaults=True):
    """The base class of all responses: values that can be compared, printed and converted to JSON.

    >>> from datetime import UTC, datetime
    >>> from adhere_client.responses.recommendations import Recorded
    >>> Recorded(datetime(2026, 3, 1, tzinfo=UTC), recommendation_id="4K7T-9QXA-M98F-RJCB").to_json()
    '{"at":"2026-03-01T00:00:00Z","recommendation_id":"4K7T-9QXA-M98F-RJCB"}'
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the response as dictionaries, lists, numbers and strings, ready for `json.dumps`."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def to_json(self) -> str:
        """Return the response as JSON, in the form in which the service sends it."""
        return msgspec.json.encode(self).decode()


def about(description: str) -> msgspec.Meta:
    """Describe a field in the OpenAPI document."""
    return msgspec.Meta(description=description)
