"""Parts of the verdict: missing outcomes, effects that differ by stratum, and what was taken."""

import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from adhere.analysis.estimates import Comparison, ConfidenceSet, Validity, View
from adhere.analysis.findings import Findings
from adhere.analysis.formatting import estimate, signed
from adhere.analysis.missing_outcomes.sensitivity import COMPLETE_CASES
from adhere.analysis.trust.mediation import and_list
from adhere.intervals import normal_quantile

_DECLARED: Final = (
    "It was declared (--fixed-allocation) that the probabilities of arms were fixed in advance and that this is the "
    "only look; "
)
_HOLDS: Final = "Its interval holds if the probabilities of arms were fixed in advance and this is the only look."
_WHY: Final = "approximate (the notes say why)"
_ROUGH: Final = (
    f"Its interval is {_WHY}, and assumes that the probabilities of arms were fixed in advance and that this is the "
    "only look."
)


def if_fixed(compared: Mapping[str, Comparison], *, declared: bool) -> str:
    """Return what the intervals of the comparisons promise for a fixed allocation; empty if there is no interval."""
    found = {name: one.difference.sets[0] for name, one in compared.items() if one.difference.sets}
    rough = [name for name, one in found.items() if one.validity is Validity.APPROXIMATE]
    if not found:
        return ""
    if len(rough) == len(found):
        return f"{_DECLARED}even so, its interval is {_WHY}." if declared else _ROUGH
    promise = f"{_DECLARED}if so, its interval holds." if declared else _HOLDS
    if not rough:
        return promise
    return f"{promise} {'That' if len(rough) == 1 else 'Those'} of {and_list(rough)} {_are(len(rough))} {_WHY}."


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def on_missing_outcomes(
    analysis: Findings, compared: Mapping[str, Comparison], compliers: Mapping[str, Comparison]
) -> Iterator[str]:
    """Say how the views take missing outcomes, and which rows beside them say what depends on it."""
    if not any(analysis.missing.outcomes.values()):
        return
    if analysis.adaptive and analysis.sequences:
        yield "Missing and pending outcomes enter the any-time valid set at their worst case: they cannot mislead it."
    elif any(one.difference.value is not None for one in compared.values()):
        has_compliers = any(one.difference.value is not None for one in compliers.values())
        stratum = " in the same stratum" * bool(analysis.subgroups)
        yield (
            f"Outcomes are missing. This view {'and compliers take' if has_compliers else 'takes'} each as the mean "
            f"of the known ones of those who were assigned and took the same{stratum}: that is right only if they "
            f"are missing at random given these.{_beside(analysis)}"
        )
    elif analysis.missing.extremes:
        yield "Worst-case bounds say between which limits this effect lies, whatever the missing outcomes are."


def _beside(analysis: Findings) -> str:
    found = analysis.missing.sensitivity
    complete = any(
        one.assumption == COMPLETE_CASES and one.difference.value is not None for one in found.alternatives
    )
    names = ["complete cases"] * complete + ["worst-case bounds"] * bool(analysis.missing.extremes)
    names += ["tipping points"] * bool(found.tipping_points)
    return f" {and_list(names).capitalize()} beside it say what depends on that." if names else ""


_LEVEL = 0.01  # of the test
_FEW = 5  # strata: of more, some are beyond zero on either side too often by chance alone


class _Effect(NamedTuple):
    value: float
    found: ConfidenceSet


def heterogeneity_sentences(analysis: Findings) -> Iterator[str]:
    """Name each treatment whose effect differs by stratum: by Cochran's Q, or good in one and bad in another.

    Nothing is said if the allocation adapted and there are no confidence sequences: no stratum has a valid set then.
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


_WEAK = 0.1  # of the share that takes an arm: a smaller difference between arms assigned can show little


def on_what_was_taken(analysis: Findings) -> Iterator[str]:
    """Say whether views that compare people by what they took can be read."""
    mediation = analysis.mediation
    views = "as-treated and per-protocol"
    depends = [arm for arm in mediation.arms if arm.refuted or arm.differs]
    if analysis.outcomes_drifted:
        yield (
            f"Do not rely on {views}: outcomes drifted over time while the allocation changed, and they compare "
            "people who chose for themselves what to take."
        )
    elif mediation.refuted is None:
        yield (
            f"Do not rely on {views}: {_lower(mediation.sentence)} They compare people who chose for themselves what "
            "to take."
        )
    elif mediation.equivalent:
        yield from _equivalent(analysis)
    elif depends or mediation.refuted or mediation.differs:
        yield f"Do not read {_with_numbers(analysis)} as effects of the treatment here."
        yield from (arm.sentence for arm in depends)
        if not depends:
            yield mediation.sentence
        drift = ", or outcomes changed over time while the allocation did" * analysis.adaptive
        yield (
            f"Who takes what is related to how they fare, or being assigned an arm did something by itself{drift}; "
            f"{'in any case' if drift else 'either way'}, those who took different arms are not comparable."
        )
    else:
        yield (
            f"Whether {views} can be trusted is not decided: people who took the same arm are not seen to fare "
            "differently depending on what they were assigned, but a difference larger than the margin of "
            f"{mediation.margin:g} is not excluded. Not finding a difference does not make these views safe."
        )


def _equivalent(analysis: Findings) -> Iterator[str]:
    alike = "People who took the same arm fared alike whatever they were assigned"
    shift = _largest_shift(analysis)
    if shift < _WEAK:
        yield (
            f"{alike}, but that says little here: assignment changed the share that takes an arm by at most "
            f"{100 * shift:.0f} percentage points, so that nearly the same people are compared. Do not read "
            "as-treated and per-protocol as effects of the treatment."
        )
        return
    yield (
        f"{alike}, to within the margin of {analysis.mediation.margin:g}. This one check does not speak "
        "against reading as-treated as the effect of taking an arm, provided that those who were never seen taking "
        "an arm would respond to it like those who were; these data cannot show that."
    )
    if analysis.adaptive:
        yield "The intervals of as-treated are fixed-sample ones, which do not hold under adaptive allocation."


def _with_numbers(analysis: Findings) -> str:
    """As-treated and per-protocol, with what they say of two arms."""
    said = []
    for view in (View.AS_TREATED, View.PER_PROTOCOL):
        values = [one.difference.value for one in analysis.effects.comparisons if one.view is view]
        value = values[0] if len(values) == 1 else None
        said.append(view.value if value is None else f"{view.value} ({signed(value)})")
    return " and ".join(said)


def _largest_shift(analysis: Findings) -> float:
    """By how much the share that takes an arm differs between arms assigned, at most."""
    shifts = [0.0]
    for arm in analysis.arms:
        shares = [one.matrix[arm].value for one in analysis.flow.arms]
        known = [share for share in shares if share is not None]
        shifts.append(max(known) - min(known) if known else 0.0)
    return max(shifts)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
