"""Analysis of trials with non-compliance: takes arrays and returns estimates with intervals.

Each part can also be called by itself with `Records`; for example, `from adhere.analysis.bounding.bounds import
bounds`.

>>> from adhere.analysis import RunningSequence, View
>>> running = RunningSequence(1, 0, View.INTENTION_TO_TREAT)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adhere.analysis.adaptive.confidence_sequence import RunningSequence as RunningSequence
    from adhere.analysis.adaptive.confidence_sequence import confidence_sequences as confidence_sequences
    from adhere.analysis.analysis import Analysis as Analysis
    from adhere.analysis.estimates import View as View
    from adhere.analysis.records import Records as Records

# Modules are imported on first use, because a live trial needs only the means.
_HOMES = {
    "Analysis": "analysis",
    "Records": "records",
    "RunningSequence": "adaptive.confidence_sequence",
    "View": "estimates",
    "confidence_sequences": "adaptive.confidence_sequence",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'adhere.analysis' has no attribute {name!r}")
    return getattr(import_module(f"adhere.analysis.{_HOMES[name]}"), name)
