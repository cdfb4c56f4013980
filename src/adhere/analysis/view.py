"""By which arm patients are compared: the four views that an analysis shows side by side."""

from __future__ import annotations

from enum import Enum


class View(Enum):
    """Which patients are compared, by which arm."""

    INTENTION_TO_TREAT = "intention-to-treat"
    COMPLIERS = "compliers"
    AS_TREATED = "as-treated"
    PER_PROTOCOL = "per-protocol"
