"""What the machine refuses is a 503 that is logged, whatever asked for it."""

from __future__ import annotations

import errno
import logging

import pytest

from adhere.service.app import _problem
from adhere.store import StoreError


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO, errno.EAGAIN])
def test_an_error_of_the_system_is_no_internal_one(number: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "adhere.service"):
        problem = _problem(OSError(number, "refused", "/secret/place"), None)
    assert problem.status == 503
    assert problem.headers["retry-after"] == "1"
    assert b"secret" not in problem.encoded()
    assert caplog.records[0].exc_info is not None


def test_what_the_database_refuses_is_logged_without_whose_data_it_was(caplog: pytest.LogCaptureFixture) -> None:
    error = StoreError("the database: no such function\nDETAIL: Key (pseudonym)=(A/S-1)")
    with caplog.at_level(logging.WARNING, "adhere.service"):
        problem = _problem(error, None)
    assert problem.status == 503
    assert caplog.messages == ["a request was answered 503: the database: no such function"]
