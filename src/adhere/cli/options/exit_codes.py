"""How commands end otherwise than well, beside the errors that all of adhere shares."""

from __future__ import annotations


class BrokenLogError(Exception):
    """A log that was changed or cut off, in one sentence."""


class EndedError(Exception):
    """The end of a command that ran for a while, in one sentence, with an exit status of its own."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Stopped(Exception):  # noqa: N818 (it is no error)
    """Ctrl-C, and what is to be said of it."""
