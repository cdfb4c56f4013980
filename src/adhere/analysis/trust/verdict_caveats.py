"""Parts of the verdict: missing outcomes, effects that differ by stratum, and views by treatment taken."""

import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from adhere.analysis.estimates import Comparison, ConfidenceSet, Validity, View
from adhere.analysis.findings import Findings
from adhere.analysis.formatting import estimate, signed
from adhere.analysis.missing_outcomes.sensitivity import COMPLETE_CASES
from adhere.analysis.sentences import say
from adhere.analysis.trust.mediation import and_list
from adhere.intervals import normal_quantile

_WHY: Final = "approximate (the notes say why)"


def if_fixed(compared: Mapping[str, Comparison], *, declared: bool) -> str:
    """Return what the intervals guarantee for a fixed allocation; empty if there is no interval."""
    found = {name: one.difference.sets[0] for name, one in compared.items() if one.difference.sets}
    rough = [name for name, one in found.items() if one.validity is Validity.APPROXIMATE]
    if not found:
        return ""
    if len(rough) == len(found):
        return f"{say('declared_fixed')}even so, its interval is {_WHY}." if declared else say("approximate_if_fixed")
    promise = f"{say('declared_fixed')}if so, its interval holds." if declared else say("holds_if_fixed")
    if not rough:
        return promise
    that, are = ("That", "is") if len(rough) == 1 else ("Those", "are")
    return f"{promise} {that} of {and_list(rough)} {are} {_WHY}."


def on_missing_outcomes(
    analysis: Findings, compared: Mapping[str, Comparison], compliers: Mapping[str, Comparison]
) -> Iterator[str]:
    """Explain how the views treat missing outcomes, and which rows show the influence of this choice."""
    if not any(analysis.missing.outcomes.values()):
        return
    if analysis.adaptive and analysis.sequences:
        yield say("worst_case_in_sequences")
    elif any(one.difference.value is not None for one in compared.values()):
        has_compliers = any(one.difference.value is not None for one in compliers.values())
        stratum = " in the same stratum" * bool(analysis.subgroups)
        take = "and compliers take" if has_compliers else "takes"
        yield say("missing_at_random", take=take, stratum=stratum, beside=_beside(analysis))
    elif analysis.missing.extremes:
        yield say("only_worst_case")


def _beside(analysis: Findings) -> str:
    found = analysis.missing.sensitivity
    cases = [one.difference.value for one in found.alternatives if one.assumption == COMPLETE_CASES]
    complete = any(value is not None for value in cases)
    names = ["complete cases"] * complete + ["worst-case bounds"] * bool(analysis.missing.extremes)
    names += ["tipping points"] * bool(found.tipping_points)
    return f" {and_list(names).capitalize()} beside it say what depends on that." if names else ""


_LEVEL = 0.01  # level of the test
_FEW = 5  # strata; with more, some exclude zero on both sides too often by chance


class _Effect(NamedTuple):
    value: float
    found: ConfidenceSet


def heterogeneity_sentences(analysis: Findings) -> Iterator[str]:
    """Name each treatment with effects that differ by stratum, by Cochran's Q or by opposite signs.

    Return no sentences if the allocation adapted and there are no confidence sequences: no stratum then has a valid
    set.
    """
    if analysis.adaptive and not analysis.sequences:
        return
    for treatment, control in analysis.pairs:
        if control != analysis.control:
            continue
        by_stratum = {}
        for name, group in analysis.subgroups.items():
            value, found = group.assigned_effect(treatment, control, adaptive=analysis.adaptive) or (None, None)
            if value is not None and found is not None and found.is_bounded:
                by_stratum[name] = _Effect(value, found)
        if len(by_stratum) < 2:
            continue
        p = None if analysis.adaptive else interaction_p_value(by_stratum)
        if (p is not None and p < _LEVEL) or (len(by_stratum) <= _FEW and _is_opposite(by_stratum)):
            ends = sorted(by_stratum.items(), key=lambda one: one[1].value)
            listed = ", ".join(f"{name} {estimate(*one, sign=True)}" for name, one in (ends[0], ends[-1]))
            test = ""
            if p is not None:
                test = f"; test of one effect in all strata: p {'<' if p < 0.001 else '='} {max(p, 0.001):.3f}"
            only = "" if analysis.mixes_strata else ", and holds for a mixture of strata like this one"
            yield say("heterogeneity", treatment=treatment, control=control, listed=listed, test=test, only=only)


def interaction_p_value(by_stratum: Mapping[str, _Effect]) -> float | None:
    """Return the p-value of Cochran's Q test of one effect in all strata; standard errors come from the intervals."""
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


_WEAK = 0.1  # a smaller difference between arms assigned in the share taking an arm shows little


def on_what_was_taken(analysis: Findings) -> Iterator[str]:
    """Return sentences on whether views that compare patients by treatment taken can be trusted."""
    mediation = analysis.mediation
    views = "as-treated and per-protocol"
    depends = [arm for arm in mediation.arms if arm.refuted or arm.differs]
    if analysis.outcomes_drifted:
        yield say("as_treated_drifted", views=views)
    elif mediation.refuted is None:
        why = mediation.sentence[:1].lower() + mediation.sentence[1:]
        yield say("as_treated_untested", views=views, why=why)
    elif mediation.equivalent:
        yield from _equivalent(analysis)
    elif depends or mediation.refuted or mediation.differs:
        yield say("as_treated_refuted", views=_with_numbers(analysis))
        yield from (arm.sentence for arm in depends)
        if not depends:
            yield mediation.sentence
        drift = ", or outcomes changed over time while the allocation did" * analysis.adaptive
        yield say("not_comparable", drift=drift, case="in any case" if drift else "either way")
    else:
        yield say("as_treated_undecided", views=views, margin=mediation.margin)


def _equivalent(analysis: Findings) -> Iterator[str]:
    shift = _largest_shift(analysis)
    if shift < _WEAK:
        yield say("alike_but_weak", points=100 * shift)
        return
    yield say("alike", margin=analysis.mediation.margin)
    if analysis.adaptive:
        yield say("as_treated_is_fixed")


def _with_numbers(analysis: Findings) -> str:
    """Return the names of as-treated and per-protocol, with their estimates if there are two arms."""
    said = []
    for view in (View.AS_TREATED, View.PER_PROTOCOL):
        values = [one.difference.value for one in analysis.effects.comparisons if one.view is view]
        value = values[0] if len(values) == 1 else None
        said.append(view.value if value is None else f"{view.value} ({signed(value)})")
    return " and ".join(said)


def _largest_shift(analysis: Findings) -> float:
    """Return the largest difference between arms assigned in the share that takes an arm."""
    shifts = [0.0]
    for arm in analysis.arms:
        shares = [one.matrix[arm].value for one in analysis.flow.arms]
        known = [share for share in shares if share is not None]
        shifts.append(max(known) - min(known) if known else 0.0)
    return max(shifts)
