"""Errors of files as errors of a store."""

from __future__ import annotations

from adhere.errors import StoreError, StoreUnavailableError
from adhere.files import may_pass


def file_error(sentence: str, error: OSError) -> StoreError:
    """Return the error of a store whose file the system refused; it says whether that may pass.

    >>> file_error("adhere.db cannot be written", OSError(28, "No space left on device"))
    StoreUnavailableError('adhere.db cannot be written: No space left on device')
    """
    kind = StoreUnavailableError if may_pass(error) else StoreError
    return kind(f"{sentence}: {error.strerror}")
