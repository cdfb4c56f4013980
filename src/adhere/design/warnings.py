"""What can be run but is hardly meant, in sentences: rules that cannot decide, looks that cannot take place."""

import math
from collections.abc import Iterator

from adhere.design.design import Design
from adhere.design.parts import MIRRORED, Rate, Stopping, Threshold
from adhere.design.planned_looks import burn_in_of, look_counts, planned_looks
from adhere.design.stopping_checks import PROBABILITIES, THRESHOLDS
from adhere.policies.guards.permuted_blocks import predictable_share

_EXACT = 1e-6  # to which a posterior's probabilities are right
_LARGE_Z = 40.0


def design_warnings(design: Design) -> Iterator[str]:
    """What to warn of in a design that is valid."""
    yield from _stopping_warnings(design)
    yield from _block_warnings(design)
    if design.n_patients is not None:
        yield from _delay_warnings(design, design.n_patients)
        yield from _look_warnings(design, design.n_patients)


def _block_warnings(design: Design) -> Iterator[str]:
    """Say what blocks of one length cost."""
    lengths, n_arms = burn_in_of(design).lengths, len(design.arms)
    if len(lengths) == 1 and not lengths[0] % n_arms:
        share = predictable_share(n_arms, lengths[0])
        yield (
            f"policy: all blocks of the burn-in have {lengths[0]} patients, so whoever sees every arm of a block can "
            f"tell {100 * share:.0f}% of the arms beforehand; without block= lengths vary"
        )


def _stopping_warnings(design: Design) -> Iterator[str]:
    rules, n_looks = design.stopping, planned_looks(design)
    if n_looks < 2 and rules is not None and rules.futility is not None:
        yield "stopping.futility: it has no say at the last look, and this design has no other"
    if n_looks > 1 and (rules is None or not _can_stop(rules)):
        yield f"stopping: this design has {n_looks} looks, and nothing that could stop its trial before the last"
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
        yield f"stopping.superiority: some arm always has {above[0]:g} or more: every trial stops at its first look"
    elif above and min(above) < 0.5:
        yield f"stopping.superiority {min(above):g}: an arm would be claimed to be better that probably is not"
    for name in THRESHOLDS:
        values = _numbers(getattr(rules, name))
        if any(min(value, 1.0 - value) < _EXACT for value in values):
            end = 0 if min(values) < _EXACT else 1
            yield (
                f"stopping.{name}: probabilities are right to {_EXACT:g}, so one that near to {end} decides by "
                "rounding; left out, it is off"
            )


def _z_warnings(design: Design, rules: Stopping) -> Iterator[str]:
    n_patients = design.n_patients or 0
    largest = math.sqrt(
        n_patients
    )  # z² is at most the number of patients, where all of one arm differ from the other
    for name in ("superiority", "inferiority"):
        lowest = min(_numbers(getattr(rules, name)), default=0.0)
        if lowest > largest:
            reached = f"so none reaches {lowest:g}"
            yield f"stopping.{name}: no z of {n_patients:,} patients is above {largest:.3g}, {reached}"
        elif lowest > _LARGE_Z:
            yield f"stopping.{name}: a z of {lowest:g} hardly ever comes about; 2 to 5 are usual"


def _numbers(threshold: Threshold | str | None) -> tuple[float, ...]:
    if threshold is None or isinstance(threshold, str):
        return ()
    return threshold if isinstance(threshold, tuple) else (threshold,)


def _delay_warnings(design: Design, n_patients: int) -> Iterator[str]:
    enrolment = _enrolment_days(design, n_patients)
    longest = max([design.delay.days, *design.delay.by_arm.values()])
    if longest > enrolment and math.isfinite(enrolment):
        yield (
            f"delay: outcomes come after {longest:g} days, and all {n_patients} patients after {enrolment:g}: "
            "no outcome can change who is recommended what"
        )


def _look_warnings(design: Design, n_patients: int) -> Iterator[str]:
    """Looks before the end that would take place after it, or never."""
    lowest = min(share for _, share in design.missing.outcome.shares())
    is_imputed = design.impute is not None and design.impute.reward is not None
    if lowest == 1.0 and not is_imputed:
        yield "missing.outcome: no outcome is ever reported, so nothing is learned and no look finds anything"
        return
    expected = n_patients if is_imputed else n_patients * (1.0 - lowest)
    field = "looks.at" if design.looks.at else "looks.every"
    for count in look_counts(design)[:-1]:
        if count > expected - 1e-9 * n_patients and expected < n_patients:
            few = "" if design.missing.outcome == Rate(lowest) else "at most "
            yield (
                f"{field}: {count:,} outcomes, where of {n_patients:,} patients {few}{expected:,.4g} are expected to "
                "have one: such a look may never take place"
            )
            break
    end = _enrolment_days(design, n_patients) + _longest_wait(design, n_patients)
    if late := [day for day in design.looks.days if day > end]:
        yield f"looks.days: day {late[0]:g}, when all outcomes are in by day {end:.4g} and the trial has ended"


def _enrolment_days(design: Design, n_patients: int) -> float:
    """How long it takes, on average, until the last patient comes."""
    days = design.enrolment.days
    return days[-1] - days[0] if days else (n_patients - 1) / design.enrolment.per_day


def _longest_wait(design: Design, n_patients: int) -> float:
    """About how long the last report may take."""
    longest = max([design.delay.days, *design.delay.by_arm.values()])
    times = {"fixed": 1.0, "uniform": 2.0, "exponential": 1.0 + math.log(n_patients)}[design.delay.distribution]
    return max(times * longest, 0.0 if design.impute is None else design.impute.after_days)
