"""JSON of a whole analysis. The same data always give the same bytes."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

import numpy as np

from adhere.analysis.findings import Findings
from adhere.analysis.formatting import outcome_words

SCHEMA: Final = "adhere-analysis"
SCHEMA_VERSION: Final = 2  # raised when a field is removed or changes its meaning, not when one is added


def to_json(analysis: Findings) -> dict[str, Any]:
    """Return the analysis as JSON values; infinite numbers become "inf" or "-inf", unknown ones null."""
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "outcome": outcome_words(analysis.lower_is_better),
        **plain(analysis),
    }


def json_text(analysis: Findings) -> str:
    """Return the analysis as JSON text, with a final line break."""
    return json.dumps(to_json(analysis), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """Convert a value of an analysis to JSON values: a dataclass to a dict, an enum to its value.

    >>> plain((math.inf, np.float64(0.5), {"n": np.arange(2)}))
    ['inf', 0.5, {'n': [0, 1]}]
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        assert not math.isnan(value)
        return "inf" if value > 0 else "-inf"
    return value
