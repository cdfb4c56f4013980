"""Adaptively weighted, augmented inverse-probability-weighted estimates at one time fixed in advance."""

from __future__ import annotations

from dataclasses import dataclass

from adhere.analysis.confidence_set import Quantity
from adhere.analysis.view import View


@dataclass(frozen=True)
class AipwEstimate:
    """An effect estimated from data of an adaptive allocation, with an interval that holds in large samples."""

    view: View
    treatment: str
    control: str
    difference: Quantity
    note: str
