"""Who would take the treatment: always, never, or just when assigned to it; and how each of them fares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adhere.analysis.confidence_set import Quantity


@dataclass(frozen=True)
class PrincipalStrata:
    """Shares of always-takers, never-takers and compliers, and their mean outcomes, for two arms and no defiers.

    `shares` has "always-takers", "never-takers", "compliers"; `means` "always-takers", "never-takers",
    "compliers, treated", "compliers, untreated". Both are empty where `reason` says why.
    """

    shares: Mapping[str, Quantity] = field(default_factory=dict)
    means: Mapping[str, Quantity] = field(default_factory=dict)
    reason: str = ""
    note: str = ""
