"""A digest of records: the same for the same data, whichever file, frame or log they came from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields

import numpy as np

from adhere.analysis.records import Records


def digest_of(records: Records) -> str:
    """SHA-256 of the arms, the strata, what was left out, and every array, in the order of decision.

    Each array is preceded by its name and number of entries; whole numbers and flags are written as little-endian
    int64, other numbers as little-endian float64. If lower outcomes are better, the
    heading says so too. Names of files, columns and trials, and the control, do not matter.
    """
    heading = {
        "arms": records.arms,
        "strata": records.strata,
        "left out": dict(sorted(records.left_out.items())),
        **({"lower is better": True} if records.lower_is_better else {}),
    }
    digest = hashlib.sha256(json.dumps(heading, ensure_ascii=False, sort_keys=True).encode())
    for field in fields(records):
        array = getattr(records, field.name)
        if isinstance(array, np.ndarray):
            kind = np.dtype("<f8") if array.dtype.kind == "f" else np.dtype("<i8")
            digest.update(f"\n{field.name} {array.shape}\n".encode())
            values = array.astype(kind)
            if kind.kind == "f":
                values[np.isnan(values)] = np.nan  # of which there are many
            digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
