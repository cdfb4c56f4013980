"""Warnings about a valid design that is probably a mistake: rules that cannot decide, looks that cannot take
place.
"""

import math
from collections.abc import Iterator

from adhere.design.design import Design
from adhere.design.parts import MIRRORED, Rate, Stopping, Threshold
from adhere.design.planned_looks import burn_in_of, look_counts, planned_looks
from adhere.design.sentences import say
from adhere.design.stopping_checks import PROBABILITIES, THRESHOLDS
from adhere.policies.guards.permuted_blocks import predictable_share

_EXACT = 1e-6  # numerical accuracy of a posterior's probabilities
_LARGE_Z = 40.0


def design_warnings(design: Design) -> Iterator[str]:
    """Yield the warnings about a valid design."""
    yield from _stopping_warnings(design)
    yield from _block_warnings(design)
    if design.n_patients is not None:
        yield from _delay_warnings(design, design.n_patients)
        yield from _look_warnings(design, design.n_patients)


def _block_warnings(design: Design) -> Iterator[str]:
    """Warn about the predictable arms in blocks of one length."""
    lengths, n_arms = burn_in_of(design).lengths, len(design.arms)
    if len(lengths) == 1 and not lengths[0] % n_arms:
        share = predictable_share(n_arms, lengths[0])
        yield say("equal_blocks", length=lengths[0], share=100 * share)


def _stopping_warnings(design: Design) -> Iterator[str]:
    rules, n_looks = design.stopping, planned_looks(design)
    if n_looks < 2 and rules is not None and rules.futility is not None:
        yield say("no_look_for_futility")
    if n_looks > 1 and (rules is None or not _can_stop(rules)):
        yield say("cannot_stop", n_looks=n_looks)
    elif rules is not None and rules.by in PROBABILITIES:
        yield from _probability_warnings(design, rules)
    elif rules is not None and rules.by == "z-test":
        yield from _z_warnings(design, rules)


def _can_stop(rules: Stopping) -> bool:
    thresholds = [getattr(rules, name) for name in (*THRESHOLDS, "boundary")]
    return rules.by == "wealth" or any(threshold not in (None, MIRRORED) for threshold in thresholds)


def _probability_warnings(design: Design, rules: Stopping) -> Iterator[str]:
    above = _numbers(rules.superiority)
    if above and planned_looks(design) > 1 and design.control is None and above[0] <= 1.0 / len(design.arms):
        yield say("stops_at_once", least=above[0])
    elif above and min(above) < 0.5:
        yield say("probably_not", least=min(above))
    for name in THRESHOLDS:
        values = _numbers(getattr(rules, name))
        if any(min(value, 1.0 - value) < _EXACT for value in values):
            end = 0 if min(values) < _EXACT else 1
            yield say("by_rounding", name=name, exact=_EXACT, end=end)


def _z_warnings(design: Design, rules: Stopping) -> Iterator[str]:
    n_patients = design.n_patients or 0
    # z² is at most the number of patients; it is reached if all outcomes differ between the arms
    largest = math.sqrt(n_patients)
    for name in ("superiority", "inferiority"):
        lowest = min(_numbers(getattr(rules, name)), default=0.0)
        if lowest > largest:
            yield say("z_out_of_reach", name=name, n_patients=n_patients, largest=largest, lowest=lowest)
        elif lowest > _LARGE_Z:
            yield say("large_z", name=name, lowest=lowest)


def _numbers(threshold: Threshold | str | None) -> tuple[float, ...]:
    if threshold is None or isinstance(threshold, str):
        return ()
    return threshold if isinstance(threshold, tuple) else (threshold,)


def _delay_warnings(design: Design, n_patients: int) -> Iterator[str]:
    enrolment = _enrolment_days(design, n_patients)
    longest = max([design.delay.days, *design.delay.by_arm.values()])
    if longest > enrolment and math.isfinite(enrolment):
        yield say("delay", days=longest, n_patients=n_patients, enrolment=enrolment)


def _look_warnings(design: Design, n_patients: int) -> Iterator[str]:
    """Warn about looks that the trial does not reach, because it ends earlier or has too few outcomes."""
    lowest = min(share for _, share in design.missing.outcome.shares())
    is_imputed = design.impute is not None and design.impute.reward is not None
    if lowest == 1.0 and not is_imputed:
        yield say("no_outcomes")
        return
    expected = n_patients if is_imputed else n_patients * (1.0 - lowest)
    field = "looks.at" if design.looks.at else "looks.every"
    for count in look_counts(design)[:-1]:
        if count > expected - 1e-9 * n_patients and expected < n_patients:
            few = "" if design.missing.outcome == Rate(lowest) else "at most "
            yield say("few_outcomes", field=field, count=count, n_patients=n_patients, few=few, expected=expected)
            break
    end = _enrolment_days(design, n_patients) + _longest_wait(design, n_patients)
    if late := [day for day in design.looks.days if day > end]:
        yield say("late_look", day=late[0], end=end)


def _enrolment_days(design: Design, n_patients: int) -> float:
    """Return the average number of days until the last patient arrives."""
    days = design.enrolment.days
    return days[-1] - days[0] if days else (n_patients - 1) / design.enrolment.per_day


def _longest_wait(design: Design, n_patients: int) -> float:
    """Return roughly how many days the last report may take."""
    longest = max([design.delay.days, *design.delay.by_arm.values()])
    times = {"fixed": 1.0, "uniform": 2.0, "exponential": 1.0 + math.log(n_patients)}[design.delay.distribution]
    return max(times * longest, 0.0 if design.impute is None else design.impute.after_days)
