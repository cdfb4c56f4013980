"""What is missing and what it could change, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.analysis.bounding.extreme_cases import ExtremeCase, ExtremeCases
from adhere.analysis.output.texts import signed
from adhere.analysis.view import View

_NAMED = 3  # pairs whose worst-case bounds are written out, and arms where there are many
_MAX_ARMS = 6  # that are all named


def missing_sentence(
    n_patients: int,
    outcomes: Mapping[str, int],
    taken: Mapping[str, int],
    imputed_outcomes: Mapping[str, int],
    imputed_taken: Mapping[str, int],
    extremes: ExtremeCases,
) -> str:
    """How many values are missing, how far they could move an effect, and how many were imputed."""
    sentences = [_counts(n_patients, outcomes, taken)]
    by_strata = {(case.treatment, case.control) for case in extremes.cases if case.stratified}
    cases = [
        case
        for case in extremes.cases
        if case.stratified or case.view is View.COMPLIERS or (case.treatment, case.control) not in by_strata
    ]
    sentences += [_extreme(case) for case in cases[:_NAMED]]
    if len(cases) > _NAMED:
        most = max(case.high - case.low for case in cases)
        sentences.append(f"For no pair of arms is that range wider than {most:z.3f}.")
    if extremes.why_no_compliers:
        sentences.append(f"There are no worst-case bounds for compliers: {extremes.why_no_compliers}.")
    filled = _both(sum(imputed_outcomes.values()), sum(imputed_taken.values()))
    if filled:
        sentences.append(f"The trial's rule for missing reports filled in {filled}; they are counted as reported.")
    return " ".join(sentences)


def _counts(n_patients: int, outcomes: Mapping[str, int], taken: Mapping[str, int]) -> str:
    n_outcomes, n_taken = sum(outcomes.values()), sum(taken.values())
    if not n_patients:
        return "There are no patients."
    if not n_outcomes and not n_taken:
        return "No outcome is missing, and of everybody it is known what they took."
    sentences = []
    if n_outcomes:
        of_all = f"{n_outcomes:,} of {n_patients:,} outcomes {'is' if n_outcomes == 1 else 'are'} missing"
        sentences.append(f"{of_all} ({_by_arm(outcomes)}).")
    else:
        sentences.append("No outcome is missing.")
    if n_taken:
        patients = f"{n_taken:,} of {n_patients:,} patients"
        sentences.append(f"It is not known what {patients} took ({_by_arm(taken)}).")
    return " ".join(sentences)


def _by_arm(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda one: -one[1])[:_NAMED] if len(counts) > _MAX_ARMS else counts.items()
    more = f" and {len(counts) - _NAMED} more arms" if len(counts) > _MAX_ARMS else ""
    return ", ".join(f"{arm}: {count:,}" for arm, count in most) + more


def _extreme(case: ExtremeCase) -> str:
    what = "intention-to-treat difference" if case.view is View.INTENTION_TO_TREAT else "effect among compliers"
    what = f"stratified {what}" if case.stratified else what
    sign = "; even its sign depends on them" if case.low < 0.0 < case.high else ""
    return (
        f"Whatever the missing values are, the {what} of {case.treatment} against {case.control} lies between "
        f"{signed(case.low)} and {signed(case.high)}, with sampling error in {case.limits}{sign}."
    )


def _both(n_outcomes: int, n_taken: int) -> str:
    outcomes = f"{n_outcomes:,} outcome" + "s" * (n_outcomes != 1)
    taken = f"what {n_taken:,} patient" + "s" * (n_taken != 1) + " took"
    return " and ".join([outcomes] * bool(n_outcomes) + [taken] * bool(n_taken))
