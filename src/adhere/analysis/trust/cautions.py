"""Warnings at the top of every output, before any number."""

from collections.abc import Iterator

from adhere.analysis.estimates import View
from adhere.analysis.findings import Findings
from adhere.analysis.formatting import sentence, unique
from adhere.analysis.records import REHEARSAL
from adhere.analysis.sentences import say
from adhere.analysis.trust.withheld import MONOTONICITY

_FEW = 20  # known outcomes of an arm; below this number, normal approximations are poor
_DIFFERENTIAL = 0.05  # tolerated difference between arms in the share of missing outcomes
_SOME_MISSING, _MANY_MISSING = 0.05, 0.20  # shares of outcomes, by Schulz & Grimes (2002)


def warnings(analysis: Findings) -> tuple[str, ...]:
    """Return the warnings of the records, and those about the results."""
    first = [REHEARSAL] if analysis.rehearsal else []
    return tuple(unique([*first, *map(sentence, analysis.warnings), *_warnings(analysis)]))


def _warnings(analysis: Findings) -> Iterator[str]:
    if not analysis.n_patients:
        yield say("no_patients")
        return
    yield from analysis.flow.notes
    if analysis.allocation is not None and analysis.allocation.rejected:
        yield analysis.allocation.sentence
    yield from _allocation(analysis)
    yield from _estimated(analysis)
    if analysis.balance is not None and (analysis.balance.depends or analysis.balance.doubtful):
        yield analysis.balance.sentence
    if analysis.outcomes_drifted and not analysis.mixes_strata:
        yield say("outcomes_drifted")
    for sequence in analysis.sequences:
        if sequence.drift_at is not None:
            yield say("drifted_effect", one=sequence)
    if analysis.bounds.inequality.refuted:
        yield analysis.bounds.inequality.sentence
    if MONOTONICITY in analysis.refuted:
        yield analysis.refuted[MONOTONICITY]
    yield from _missing(analysis)
    yield from _outcomes(analysis)


def _allocation(analysis: Findings) -> Iterator[str]:
    if not analysis.has_probabilities and not analysis.fixed_allocation and not analysis.adaptive:
        whom = " to every patient" * (analysis.n_without_probabilities < analysis.n_patients)
        yield say("no_probabilities", whom=whom)
    elif analysis.adaptive:
        read = "Read the any-time valid ones." if analysis.sequences else analysis.why_no_sequences
        yield say("adaptive_allocation", read=read)


def _estimated(analysis: Findings) -> Iterator[str]:
    """Warn that exact methods leave out patients with estimated or unknown probabilities."""
    assigned = {arm.arm: arm.assigned for arm in analysis.flow.arms}
    for sequence in analysis.sequences:
        n = assigned[sequence.treatment] + assigned[sequence.control]
        n_left_out = n - sequence.n_used - sequence.n_pending
        if sequence.view is View.INTENTION_TO_TREAT and n_left_out > 0:
            yield say("left_out_of_sequences", n_left_out=n_left_out, n=n, one=sequence)


def _missing(analysis: Findings) -> Iterator[str]:
    n_missing = sum(analysis.missing.outcomes.values())
    share = n_missing / analysis.n_patients
    if share > _SOME_MISSING:
        much = "so much that results may mislead whatever the method" if share > _MANY_MISSING else "enough to matter"
        views = _that_assume(analysis, "take", "takes")
        if analysis.sequences and (analysis.adaptive or not views):  # then the sets of sequences are the valid ones
            how = ["any-time valid sets take them at their worst case"]
        else:
            how = [say("loss_at_random", views=views)] * bool(views)
            how += ["the worst-case bounds say how far they could move an effect"] * bool(analysis.missing.extremes)
        said = f"{100 * share:.0f}% of outcomes are missing: {much}."
        yield f"{said} {sentence('; '.join(how))}" if how else said
    yield from _differential(analysis)
    if analysis.missing.loss is not None and analysis.missing.loss.depends:
        views = _that_assume(analysis, "allow", "allows")
        yield f"{analysis.missing.loss.sentence} {say('loss_allowed_for', views=views) if views else ''}".strip()
    n_imputed = sum(analysis.missing.imputed_outcomes.values()) + sum(analysis.missing.imputed_taken.values())
    if n_imputed:
        yield say("imputed", n=n_imputed, were="s were" if n_imputed != 1 else " was")


def _that_assume(analysis: Findings, plural: str, singular: str) -> str:
    """Name the views that assume outcomes missing at random, followed by the verb; empty if there are none."""
    found = [one.view for one in analysis.effects.comparisons if one.at_random and one.difference.value is not None]
    if View.INTENTION_TO_TREAT not in found:
        return ""
    both = f"intention-to-treat and compliers {plural}"
    return both if View.COMPLIERS in found else f"intention-to-treat {singular}"


def _differential(analysis: Findings) -> Iterator[str]:
    """Warn of loss that differs between arms, because it can bias the randomised comparison."""
    shares = [(one.outcome_missing / one.assigned, one.arm) for one in analysis.flow.arms if one.assigned]
    within = ""
    if analysis.mixes_strata:  # the mix of strata differs between arms, and loss may differ between strata
        shares = [(share, arm) for arm, share in analysis.missing.shares_within_strata.items()]
        within = " (strata weighted by their patients)"
    (low, fewest), (high, most) = min(shares, default=(0.0, "")), max(shares, default=(0.0, ""))
    if high - low > _DIFFERENTIAL:
        read = "; read the worst-case bounds" * bool(analysis.missing.extremes)
        if analysis.adaptive and analysis.sequences:
            read = "; any-time valid sets take them at their worst case"
        arms = {"most": most, "high": 100 * high, "fewest": fewest, "low": 100 * low}
        yield say("differential_loss", **arms, within=within, read=read)


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
