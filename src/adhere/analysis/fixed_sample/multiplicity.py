"""p-values corrected for several comparisons by Holm's procedure, over all pairs and over those against control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adhere.analysis.fixed_sample.comparison import Comparison

ALL_PAIRS = "Holm, all pairs"
AGAINST_CONTROL = "Holm, against control"


def adjusted(comparisons: Sequence[Comparison], control: str) -> tuple[Comparison, ...]:
    """The comparisons of one view with their adjusted p-values, where a family has more than one (Holm 1979).

    A comparison that cannot be made counts for no family.
    """
    families = {ALL_PAIRS: list(comparisons), AGAINST_CONTROL: [one for one in comparisons if one.control == control]}
    found: dict[tuple[str, str], dict[str, float]] = {}
    for family, members in families.items():
        p_values = {(one.treatment, one.control): one.p_value for one in members if one.p_value is not None}
        if len(p_values) > 1:
            for pair, p_value in zip(p_values, _holm(list(p_values.values())), strict=True):
                found.setdefault(pair, {})[family] = p_value
    return tuple(replace(one, adjusted=found.get((one.treatment, one.control), {})) for one in comparisons)


def _holm(p_values: Sequence[float]) -> list[float]:
    """Each p-value times how many are not smaller, and no smaller than the one before it; at most 1.

    (statsmodels' `multipletests` has the same, but collects all garbage whenever it is called: 0.3 s a call.)

    >>> _holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = largest
    return corrected
