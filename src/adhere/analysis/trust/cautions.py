"""Warnings for the top of every output, to read before any number of an analysis."""

from collections.abc import Iterator

from adhere.analysis.estimates import View
from adhere.analysis.findings import Findings
from adhere.analysis.formatting import sentence, unique
from adhere.analysis.records import REHEARSAL
from adhere.analysis.trust.withheld import MONOTONICITY

_FEW = 20  # known outcomes of an arm, below which normal approximations are poor
_DIFFERENTIAL = 0.05  # by how much the shares of missing outcomes may differ between arms
_SOME_MISSING, _MANY_MISSING = 0.05, 0.20  # shares of outcomes, by Schulz & Grimes (2002)
_AT_RANDOM = "{views} them to be missing at random given the arm assigned, what was taken and the stratum"
_ALLOWS = (
    "But {views} for it if outcomes are missing at random given the arm assigned, what was taken and the stratum."
)
_DRIFTED = (
    "Outcomes changed over time within arms by more than chance explains (p < 0.01) while the allocation changed: "
    "those assigned different arms came at different times. Bounds, principal strata and the test of what was taken "
    "are withheld, as they take late patients as like the early ones. Confidence sequences and AIPW allow for drift "
    "that is the same in all arms."
)


def warnings(analysis: Findings) -> tuple[str, ...]:
    """Warnings that the records came with, and those that the results call for."""
    first = [REHEARSAL] if analysis.rehearsal else []
    return tuple(unique([*first, *map(sentence, analysis.warnings), *_warnings(analysis)]))


def _warnings(analysis: Findings) -> Iterator[str]:
    if not analysis.n_patients:
        yield "There are no patients, so nothing can be estimated."
        return
    yield from analysis.flow.notes
    if analysis.allocation is not None and analysis.allocation.rejected:
        yield analysis.allocation.sentence
    yield from _allocation(analysis)
    yield from _estimated(analysis)
    if analysis.balance is not None and (analysis.balance.depends or analysis.balance.doubtful):
        yield analysis.balance.sentence
    if analysis.outcomes_drifted and not analysis.mixes_strata:
        yield _DRIFTED
    for sequence in analysis.sequences:
        if sequence.drift_at is not None:
            yield (
                f"Drift: after {sequence.drift_at:,} decisions no constant effect ({sequence.view.value}, "
                f"{sequence.treatment} against {sequence.control}) agrees with the records. The effect changed over "
                "time, or the logged probabilities are wrong."
            )
    if analysis.bounds.inequality.refuted:
        yield analysis.bounds.inequality.sentence
    if MONOTONICITY in analysis.refuted:
        yield analysis.refuted[MONOTONICITY]
    yield from _missing(analysis)
    yield from _outcomes(analysis)


def _allocation(analysis: Findings) -> Iterator[str]:
    if not analysis.has_probabilities and not analysis.fixed_allocation and not analysis.adaptive:
        whom = " to every patient" * (analysis.n_without_probabilities < analysis.n_patients)
        yield (
            f"The records do not say with which probability each arm was assigned{whom}. Intervals are those of a "
            "fixed allocation looked at once; if arms were assigned by earlier outcomes, they do not hold. If the "
            "probabilities were fixed in advance and this is the only look, declare it: --fixed-allocation (in "
            "Python fixed_allocation=True)."
        )
    elif analysis.adaptive and not analysis.sequences:
        yield f"The allocation was adaptive: fixed-sample intervals do not hold for it. {analysis.why_no_sequences}"
    elif analysis.adaptive:
        yield "The allocation was adaptive: fixed-sample intervals do not hold for it. Read the any-time valid ones."


def _estimated(analysis: Findings) -> Iterator[str]:
    """Exact methods refuse patients whose probabilities were estimated, or are not known."""
    assigned = {arm.arm: arm.assigned for arm in analysis.flow.arms}
    for sequence in analysis.sequences:
        n = assigned[sequence.treatment] + assigned[sequence.control]
        n_left_out = n - sequence.n_used - sequence.n_pending
        if sequence.view is View.INTENTION_TO_TREAT and n_left_out > 0:
            yield (
                f"Any-time valid sets leave out {n_left_out:,} of {n:,} patients ({sequence.treatment} against "
                f"{sequence.control}): the probabilities of their arms were estimated or are not known."
            )


def _missing(analysis: Findings) -> Iterator[str]:
    n_missing = sum(analysis.missing.outcomes.values())
    share = n_missing / analysis.n_patients
    if share > _SOME_MISSING:
        much = "so much that results may mislead whatever the method" if share > _MANY_MISSING else "enough to matter"
        views = _that_assume(analysis, "take", "takes")
        if analysis.sequences and (analysis.adaptive or not views):  # the sets to read
            how = ["any-time valid sets take them at their worst case"]
        else:
            how = [_AT_RANDOM.format(views=views)] * bool(views)
            how += ["the worst-case bounds say how far they could move an effect"] * bool(analysis.missing.extremes)
        said = f"{100 * share:.0f}% of outcomes are missing: {much}."
        yield f"{said} {sentence('; '.join(how))}" if how else said
    yield from _differential(analysis)
    if analysis.missing.loss is not None and analysis.missing.loss.depends:
        views = _that_assume(analysis, "allow", "allows")
        yield f"{analysis.missing.loss.sentence} {_ALLOWS.format(views=views) if views else ''}".strip()
    n_imputed = sum(analysis.missing.imputed_outcomes.values()) + sum(analysis.missing.imputed_taken.values())
    if n_imputed:
        yield (
            f"{n_imputed:,} value{'s were' if n_imputed != 1 else ' was'} filled in by the trial's rule for missing "
            "reports and counted as reported."
        )


def _that_assume(analysis: Findings, plural: str, singular: str) -> str:
    """The views shown that take outcomes as missing at random, with a verb; empty if there are none."""
    found = [one.view for one in analysis.effects.comparisons if one.at_random and one.difference.value is not None]
    if View.INTENTION_TO_TREAT not in found:
        return ""
    return (
        f"intention-to-treat and compliers {plural}" if View.COMPLIERS in found else f"intention-to-treat {singular}"
    )


def _differential(analysis: Findings) -> Iterator[str]:
    """Loss that differs between arms can bias the comparison that randomisation made fair."""
    shares = [(one.outcome_missing / one.assigned, one.arm) for one in analysis.flow.arms if one.assigned]
    within = ""
    if analysis.mixes_strata:  # arms were assigned to different strata, in which different shares may be lost
        shares = [(share, arm) for arm, share in analysis.missing.shares_within_strata.items()]
        within = " (strata weighted by their patients)"
    (low, fewest), (high, most) = min(shares, default=(0.0, "")), max(shares, default=(0.0, ""))
    if high - low > _DIFFERENTIAL:
        read = "; read the worst-case bounds" * bool(analysis.missing.extremes)
        if analysis.adaptive and analysis.sequences:
            read = "; any-time valid sets take them at their worst case"
        yield (
            f"Outcomes are missing for {100 * high:.0f}% of those assigned {most}, and for {100 * low:.0f}% of those "
            f"assigned {fewest}{within}. Loss that differs between arms can bias every estimate that assumes "
            f"anything of missing outcomes{read}."
        )


def _outcomes(analysis: Findings) -> Iterator[str]:
    means = [one for one in analysis.effects.means if one.view is View.INTENTION_TO_TREAT]
    if not any(one.mean.n for one in means):
        yield "No outcome is known, so no effect can be estimated."
        return
    known = [one.mean for one in means if one.mean.value is not None]
    if known and len({mean.value for mean in known}) == 1 and known[0].value in (0.0, 1.0):
        yield f"Every known outcome is {known[0].value:g}, so no view can show a difference."
    few = [f"{one.arm}: {one.mean.n}" for one in means if 0 < one.mean.n < _FEW]
    if few:
        yield f"Few outcomes are known ({', '.join(few)}): intervals are wide, and approximate ones unreliable."
