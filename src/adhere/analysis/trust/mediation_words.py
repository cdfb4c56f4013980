"""What the test of "does the outcome depend on the arm assigned, given what was taken?" means, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from adhere.analysis.confidence_set import Quantity
from adhere.analysis.output.texts import bayes_factor_words, from_log, p_value
from adhere.analysis.trust.mediation_evidence import Evidence

_STRENGTHS = ((150.0, "very strong"), (20.0, "strong"), (3.0, "positive"))  # Kass & Raftery (1995)


def bayes_factor_sentence(log_factor: float, alike: bool = False, binary: bool = True) -> str:
    """Name the hypothesis that the Bayes factor favours, and the strength of the evidence.

    Evidence for no dependence has a strength only if the means were found `alike`.

    >>> bayes_factor_sentence(math.log(0.01), alike=True)
    'The Bayes factor is 100 in favour of no dependence on the arm assigned (strong evidence).'
    """
    strength = next((word for least, word in _STRENGTHS if abs(log_factor) >= math.log(least)), "")
    rough = "" if binary else ", which is rough where outcomes are not all 0 or 1,"
    factor = f"The Bayes factor{rough} is {bayes_factor(log_factor)}"
    if not strength:
        return f"{factor}, which says next to nothing either way."
    if log_factor < 0.0 and not alike:
        return f"{factor}; with few patients it leans that way by itself."
    return f"{factor} ({strength} evidence)."


def bayes_factor(log_factor: float | None) -> str:
    """A Bayes factor with the hypothesis that it favours; empty where there is none.

    >>> bayes_factor(math.log(3.2))
    '3.2 in favour of dependence on the arm assigned'
    """
    hypotheses = "in favour of dependence on the arm assigned", "in favour of no dependence on the arm assigned"
    return "" if log_factor is None else bayes_factor_words(log_factor, hypotheses)


def untested_arm_sentence(arm: str, n: Mapping[str, int]) -> str:
    """Why one arm cannot be tested."""
    takers = [chosen for chosen, count in n.items() if count]
    if not takers:
        return f"Of nobody who took {arm} is the outcome known."
    return (
        f"All who took {arm} had been assigned to {takers[0]}, so it cannot be tested whether the outcome of taking "
        f"{arm} depends on the arm assigned."
    )


def arm_sentence(
    arm: str, means: Mapping[str, Quantity], evidence: Evidence, most: float, margin: float, level: float
) -> str:
    """What is found for those who took one arm; `most` is the largest difference that the data allow."""
    if evidence.refutes(level) or evidence.differs(level):
        known = sorted((mean.value, chosen) for chosen, mean in means.items() if mean.value is not None)
        (low, lowest), *_, (high, highest) = known
        within = f", by at most {most:z.3f}, less than the margin of {margin:g}" if most <= margin else ""
        return (
            f"Those who took {arm} fared differently depending on the arm they were assigned{within}: a mean outcome "
            f"of {low:z.3f} if assigned to {lowest}, {high:z.3f} if assigned to {highest} ({_values(evidence)})."
        )
    if most <= margin:
        return (
            f"Those who took {arm} fared alike whichever arm they were assigned: their mean outcomes differ by at "
            f"most {most:z.3f}, less than the margin of {margin:g}."
        )
    return (
        f"Not decided for {arm}: no difference by the arm assigned is shown among those who took it "
        f"({_values(evidence)}), but there could be one of up to {most:z.3f}, more than the margin of {margin:g}."
    )


def untested_sentence(n_known: int, everybody_complied: bool) -> str:
    """Why no arm can be tested."""
    if not n_known:
        return "Of nobody it is known both what they took and how they fared, so nothing can be tested."
    if everybody_complied:
        return "Everybody took the arm they were assigned, so there is nothing to test."
    return (
        "No arm was taken by patients assigned to different arms, so it cannot be tested whether the outcome depends "
        "on the arm assigned beyond what was taken."
    )


def overall_sentence(
    evidence: Evidence, equivalent: bool, refuted_arms: Sequence[str], margin: float, level: float
) -> str:
    """What is found for all arms together."""
    least, values = 1.0 / (1.0 - level), _values(evidence)
    refuted, differs = evidence.refutes(level), evidence.differs(level)
    if equivalent:
        sentence = f"Given what was taken, mean outcomes differ by arm assigned by less than the margin of {margin:g}"
        sentence += f", though they do differ ({values})." if refuted or differs else "."
    elif refuted:
        sentence = (
            f"Refuted: the outcome depends not only on what was taken but also on the arm assigned ({values}; "
            f"{least:.3g} or more refutes it however often one looked). {WHY}"
        )
    elif differs:
        sentence = (
            "In this sample the outcome depends not only on what was taken but also on the arm assigned "
            f"({values}: refuted if this is the one look that was planned, not if it is one of several). {WHY}"
        )
    elif refuted_arms:
        sentence = (
            f"Refuted for those who took {and_list(refuted_arms)}: their outcome also depends on the arm assigned. "
            f"For all arms together it is not decided ({values})."
        )
    else:
        sentence = (
            f"Not decided: the data do not refute that the outcome depends on what was taken alone ({values}), "
            f"but do not show it within the margin of {margin:g} either. Not refuted does not mean safe."
        )
    return f"{sentence} {bayes_factor_sentence(evidence.log_bayes_factor, equivalent, evidence.binary)}"


WHY = (
    "Those who took an arm against their assignment are other people than those who took it as assigned, or being "
    "assigned an arm did something by itself."
)


def _values(evidence: Evidence) -> str:
    p = evidence.p_value
    p_text = "" if p is None else "p < 0.001, " if p < 0.001 else f"p = {p_value(p)}, "
    return f"{p_text}e-value {from_log(evidence.log_e)}"


def and_list(names: Sequence[str]) -> str:
    """Names as in a sentence.

    >>> and_list(["a"]), and_list(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
