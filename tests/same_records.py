"""Records that are to be the same, whatever they came from."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from adhere.analysis.records import Records


def assert_same_records(one: Records, other: Records) -> None:
    """Arms, strata and every array are the same, and so is the digest."""
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
            assert type(mine) is type(theirs), field.name
            assert mine.dtype == theirs.dtype, field.name
            np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
    assert (one.arms, one.control, one.strata) == (other.arms, other.control, other.strata)
    assert (one.left_out, one.digest) == (other.left_out, other.digest)
