"""Whether the effect differs so much between strata that the one over all patients hides it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from adhere.analysis.confidence_set import ConfidenceSet
from adhere.analysis.output.effect_rows import assigned_effect, pairs
from adhere.analysis.output.texts import estimate
from adhere.intervals import normal_quantile

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis

_LEVEL = 0.01  # of the test
_FEW = 5  # strata: of more, some are beyond zero on either side too often by chance alone


class _Effect(NamedTuple):
    value: float
    found: ConfidenceSet


def heterogeneity_sentences(analysis: Analysis) -> Iterator[str]:
    """Name each treatment whose effect differs by stratum: by Cochran's Q, or good in one and bad in another.

    Nothing is said if the allocation adapted and there are no confidence sequences: no stratum has a valid set then.
    """
    if analysis.adaptive and not analysis.sequences:
        return
    for treatment, control in pairs(analysis):
        if control != analysis.control:
            continue
        by_stratum = {}
        for name, group in analysis.subgroups.items():
            value, found = assigned_effect(group, treatment, control, adaptive=analysis.adaptive) or (None, None)
            if value is not None and found is not None and found.is_bounded:
                by_stratum[name] = _Effect(value, found)
        if len(by_stratum) < 2:
            continue
        p = None if analysis.adaptive else interaction_p_value(by_stratum)
        if (p is not None and p < _LEVEL) or (len(by_stratum) <= _FEW and _is_opposite(by_stratum)):
            ends = sorted(by_stratum.items(), key=lambda one: one[1].value)
            listed = ", ".join(f"{name} {estimate(*one, sign=True)}" for name, one in (ends[0], ends[-1]))
            test = (
                ""
                if p is None
                else f"; test of one effect in all strata: p {'<' if p < 0.001 else '='} {max(p, 0.001):.3f}"
            )
            only = "" if analysis.mixes_strata else ", and holds for a mixture of strata like this one"
            yield (
                f"The effect of {treatment} against {control} differs from stratum to stratum ({listed}{test}): the "
                f"effect over all patients hides different effects{only}."
            )


def interaction_p_value(by_stratum: Mapping[str, _Effect]) -> float | None:
    """Cochran's Q test that all strata have one effect; standard errors are those of their intervals."""
    from scipy.special import chdtrc

    weighed = []
    for value, found in by_stratum.values():
        error = (found.high - found.low) / (2.0 * normal_quantile(found.level))
        if error > 0.0:
            weighed.append((value, 1.0 / error**2))
    if len(weighed) < 2:
        return None
    mean = math.fsum(value * weight for value, weight in weighed) / math.fsum(weight for _, weight in weighed)
    q = math.fsum(weight * (value - mean) ** 2 for value, weight in weighed)
    return float(chdtrc(len(weighed) - 1, q))


def _is_opposite(by_stratum: Mapping[str, _Effect]) -> bool:
    sets = [one.found for one in by_stratum.values()]
    return any(one.low > 0.0 for one in sets) and any(one.high < 0.0 for one in sets)
