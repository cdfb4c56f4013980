"""What the machine refuses is a 503 that is logged, whatever asked for it."""

from __future__ import annotations

import errno
import logging

import pytest

from adhere.service.app import _problem


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO, errno.EAGAIN])
def test_an_error_of_the_system_is_no_internal_one(number: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "adhere.service"):
        problem = _problem(OSError(number, "refused", "/secret/place"), None)
    assert problem.status == 503
    assert problem.headers["retry-after"] == "1"
    assert b"secret" not in problem.encoded()
    assert caplog.records[0].exc_info is not None
