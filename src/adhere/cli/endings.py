"""How commands end otherwise than well, beside the errors that all of adhere shares."""

from __future__ import annotations


class BrokenLogError(Exception):
    """A log that was changed or cut off, in one sentence."""


class Stopped(Exception):  # noqa: N818 (it is no error)
    """Ctrl-C, and what is to be said of it."""
