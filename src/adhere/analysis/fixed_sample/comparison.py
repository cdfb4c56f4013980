"""What two arms have between them, by one view: the difference, the ratio and the number needed to treat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adhere.analysis.confidence_set import Quantity
from adhere.analysis.fixed_sample.means import View


@dataclass(frozen=True)
class Comparison:
    """A treatment against a control; effects are treatment − control, and more is better.

    `adjusted` has the p-value corrected for several comparisons, by the name of the correction and its family.
    `at_random` says that outcomes are missing, and that the comparison assumes them missing at random given the arm
    assigned, what was taken and the stratum.
    """

    view: View
    treatment: str
    control: str
    difference: Quantity
    ratio: Quantity
    number_needed: Quantity
    p_value: float | None = None
    adjusted: Mapping[str, float] = field(default_factory=dict)
    stratified: bool = False
    note: str = ""
    at_random: bool = False
