"""Exceptions that a call raises when a value is refused or the service fails."""

from typing import Any


class InputError(ValueError):
    """The error for a refused value: the field, the value, and what was expected. `sentence` is the message, and so
    is `str(error)`.

    >>> print(InputError("reward", 1.5, "a number from 0 to 1"))
    reward: got 1.5, expected a number from 0 to 1
    """

    def __init__(self, field: str, value: object, expected: str, sentence: str = "") -> None:
        self.field, self.value, self.expected = field, value, expected
        self.sentence = sentence or f"{field}: got {_short(repr(value))}, expected {expected}"
        ValueError.__init__(self, self.sentence)  # not super(): in adhere, the next class takes other arguments

    def __reduce__(self) -> Any:
        return type(self), (self.field, self.value, self.expected, self.sentence)


def _short(text: str, limit: int = 120) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


class UnknownError(InputError):
    """The error for a name or number that does not exist, or that the caller may not see."""


class ConflictError(InputError):
    """The error for a valid value that conflicts with an earlier record. `recommendation_id` is the recommendation
    that this record is about, or None.
    """

    recommendation_id: str | None = None

    def __reduce__(self) -> Any:
        return *super().__reduce__(), {"recommendation_id": self.recommendation_id}


class ServiceError(Exception):
    """The error for a call that failed for a reason other than its values.

    Parameters
    ----------
    status : int
        HTTP status of the response, or 0 if there was no response.
    detail : str
        Reason in words.

    See Also
    --------
    InputError : The error for values that the service refuses.

    Examples
    --------
    >>> print(ServiceError(503, "The database does not respond."))
    503: The database does not respond.
    >>> print(ServiceError(0, "connection refused"))
    connection refused

    """

    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail
        super().__init__(f"{status}: {detail}" if status else detail)

    def __reduce__(self) -> Any:
        return type(self), (self.status, self.detail)
