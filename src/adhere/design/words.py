"""A design in plain sentences, for reports, pages and the terminal."""

import re
from collections.abc import Iterator
from statistics import NormalDist
from typing import Final

from adhere.analysis.records import REHEARSAL
from adhere.design.design import Design
from adhere.design.make_look_rules import boundary_values
from adhere.design.parts import Delay, Rate, Stopping, Threshold
from adhere.design.planned_looks import burn_in_of, look_counts, planned_looks
from adhere.design.sentences import say
from adhere.errors import joined
from adhere.policies import BurnIn, Floor, Learner, Uniform, as_policy
from adhere.policies.guards.guard import Guard, inside_guards
from adhere.report.numbers import counted, rounded_numbers

_RECOMMEND = re.compile(r"\b(re|Re)commend(ation)?")
_ASSIGN = {"re": "as", "Re": "As"}


def randomises(design: Design) -> bool:
    """Return whether all patients are randomised with probabilities fixed in advance, in blocks or independently.

    >>> randomises(Design("a", "burn-in(thompson, patients=300)", ("x", "y"), n_patients=300))
    True
    >>> randomises(Design("a", "burn-in(thompson, patients=30)", ("x", "y"), n_patients=300))
    False
    """
    is_uniform = isinstance(inside_guards(as_policy(design.policy)), Uniform)
    return is_uniform or burn_in_of(design).patients == design.n_patients


def as_assigned(text: str) -> str:
    """Return a text that says "assigned" instead of "recommended".

    >>> as_assigned("Patients recommended an arm, by recommendation")
    'Patients assigned an arm, by assignment'
    """
    return _RECOMMEND.sub(lambda found: f"{_ASSIGN[found[1]]}sign{'ment' if found[2] else ''}", text)


_BOUNDARIES: Final = {"obrien-fleming": "O'Brien and Fleming", "pocock": "Pocock"}
_MAX_LOOKS: Final = 60  # the most looks whose critical values can be computed within a second
_MAX_SAID: Final = 10


def stopping_sentences(design: Design) -> Iterator[str]:
    """Yield sentences on the statistic that decides at a look, and on its thresholds."""
    rules = design.stopping
    if rules is None:
        return
    yield say(f"decides_by_{rules.by}")
    if rules.by == "wealth":
        yield say("wealth", other=_other(design), alpha=rules.alpha)
    elif rules.by == "z-test":
        yield from _by_z(design, rules)
    else:
        yield from _by_probability(design, rules)


def _other(design: Design) -> str:
    return design.arms[0] if design.control is None else design.control


def _by_probability(design: Design, rules: Stopping) -> Iterator[str]:
    best = "best" if design.control is None else f"better than {design.control}"
    if rules.superiority is not None:
        yield say("superiority", best=best, at=_at(rules.superiority))
    inferiority = _complement(rules.superiority) if isinstance(rules.inferiority, str) else rules.inferiority
    if inferiority is not None:
        yield say("inferiority", best=best, at=_at(inferiority))
    if rules.equivalence is not None and rules.margin is not None:
        kind = "equivalence_of_all" if design.control is None else "equivalence_to_control"
        yield say(kind, control=design.control, margin=rules.margin, at=_at(rules.equivalence))
    if rules.futility is not None:
        gain = "any gain" if rules.margin is None else f"a gain of more than {rules.margin:g}"
        yield say("futility", gain=gain, other=_other(design), at=_at(rules.futility))


def _by_z(design: Design, rules: Stopping) -> Iterator[str]:
    other = _other(design)
    if rules.boundary is not None:
        yield say("boundary", other=other, boundary=_BOUNDARIES[rules.boundary], alpha=rules.alpha)
        if planned_looks(design) <= _MAX_LOOKS:
            yield say("critical_values", values=_critical(design))
    if rules.superiority is not None:
        yield say("z_superiority", other=other, at=_at(rules.superiority))
    inferiority = rules.inferiority
    if inferiority is None or isinstance(inferiority, str):
        inferiority = rules.superiority
    if inferiority is not None:
        yield say("z_inferiority", at=_at(inferiority))
    if rules.equivalence is not None and rules.margin is not None:
        yield say("z_equivalence", other=other, at=_at(rules.equivalence), margin=rules.margin)
    if rules.futility is not None:
        yield say("z_futility", at=_at(rules.futility))


def _complement(threshold: Threshold | None) -> Threshold | None:
    """Return 1 minus a threshold, rounded so that it has no more decimals than the threshold."""
    if isinstance(threshold, tuple):
        return tuple(round(1.0 - value, 12) for value in threshold)
    return None if threshold is None else round(1.0 - threshold, 12)


def _critical(design: Design) -> str:
    """Return the critical values of the boundary in words, each with its p-value and share of the information."""
    counts, values = look_counts(design), boundary_values(design)
    said = [
        f"{value:.3f} ({_p(value)}) at {100.0 * n / counts[-1]:.3g}%" for n, value in zip(counts, values, strict=True)
    ]
    said[0] += " of the information"
    said[-1] = f"{said[-1].rpartition(' at ')[0]} at the end"
    return joined([*said[:2], "…", said[-1]] if len(said) > _MAX_SAID else said)


def _p(z: float) -> str:
    p = 2.0 * NormalDist().cdf(-z)
    return "p < 0.0001" if p < 0.0001 else f"p {p:.4f}"


def _at(threshold: Threshold) -> str:
    """Return a threshold as text: one number, or one for each look."""
    if isinstance(threshold, tuple):
        return f"{', '.join(f'{value:g}' for value in threshold)} (look by look)"
    return f"{threshold:g}"


_CREDITS: Final = {
    "chosen": "the arm recommended",
    "actual": "the arm taken",
    "comply": "the arm recommended, if it was taken",
}
LOWER_IS_BETTER: Final = "Lower outcomes are better: an outcome y is read as 1 − y."
_ENTRIES: Final = {
    "once": "A patient is entered once, and gets no second recommendation.",
    "ask": "A patient is entered a second time only if the site confirms it.",
}
_ESTIMANDS: Final = {
    "intention-to-treat": "by intention-to-treat (treatment policy)",
    "compliers": "among compliers (principal stratum)",
}


def in_words(design: Design) -> list[str]:
    """Return the sentences that describe a design.

    >>> from adhere.design.make_design import make_design
    >>> for sentence in in_words(make_design("headache", "thompson", ["walk", "aspirin"], n_patients=300))[:3]:
    ...     print(sentence)
    At most 300 patients are recommended walk or aspirin.
    Arms are recommended by thompson, which credits each outcome to the arm recommended.
    The probabilities of the arms follow every outcome.
    """
    said = [
        *_patients(design),
        *_allocation(design),
        *_expected(design),
        *_looks(design),
        *stopping_sentences(design),
        *_reported(design),
    ]
    return [as_assigned(sentence) for sentence in said] if randomises(design) else said


def percent(share: float) -> str:
    """Return a share as a percentage, with all its digits.

    >>> percent(0.05), percent(0.9814)
    ('5%', '98.14%')
    """
    return f"{round(100.0 * share, 6):g}%"


def _patients(design: Design) -> Iterator[str]:
    if design.rehearsal:
        yield REHEARSAL
    many = "Patients" if design.n_patients is None else f"At most {counted(design.n_patients, 'patient')}"
    control = "" if design.control is None else f"; {design.control} is the control"
    how = "randomised to" if randomises(design) else "recommended"
    yield f"{many} {'is' if design.n_patients == 1 else 'are'} {how} {joined(design.arms, 'or')}{control}."
    if design.outcome_words or design.reward_values != (0.0, 1.0):
        words = [f"{word} ({value:g})" for word, value in design.outcome_words.items()]
        yield f"An outcome is {joined(words or [f'{value:g}' for value in design.reward_values], 'or')}."
    if design.lower_is_better:
        yield LOWER_IS_BETTER
    if design.blinded:
        yield "Sites get kit codes instead of arms."
    if design.repeats:
        yield "A patient may get another recommendation while one is open."
    if design.entries != "repeated":
        yield _ENTRIES[design.entries]


def _allocation(design: Design) -> Iterator[str]:
    policy = as_policy(design.policy)
    then = "Arms"
    n_patients = design.n_patients
    while isinstance(policy, Guard):
        if isinstance(policy, BurnIn):
            patients, lengths = burn_in_of(design)
            strata = f", within each of the strata {joined(design.strata)}" if design.strata else ""
            whom = "All" if patients == n_patients else f"The first {patients}"
            long = joined(map(str, lengths), "or")
            yield f"{whom} patients are randomised in permuted blocks of {long}{strata}."
            if patients == n_patients:
                return
            then = "After them arms"
        elif isinstance(policy, Floor):
            control = policy.share if policy.control is None else policy.control
            beside = "" if control == policy.share else f", and {design.arms[0]} of {percent(control)}"
            how = "lower ones are raised to it" if policy.rule == "clip" else "the policy decides on the rest"
            yield f"Every arm keeps a probability of at least {percent(policy.share)}{beside}; {how}."
        policy = policy.inner
    if isinstance(policy, Uniform):
        yield f"{then} are drawn with equal probabilities."
        return
    learns = f", which credits each outcome to {_credited(policy)}" if isinstance(policy, Learner) else ""
    yield f"{then} are recommended by {rounded_numbers(str(policy))}{learns}."
    frozen = "stay as they are between looks" if design.update == "at looks" else "follow every outcome"
    yield f"The probabilities of the arms {frozen}."


def _credited(learner: Learner) -> str:
    return _CREDITS.get(learner.protocol.name, "arms by a table of its own")


def _expected(design: Design) -> Iterator[str]:
    """Yield sentences on what a simulation assumes: enrolment, delays and missing reports."""
    enrolment, impute = design.enrolment, design.impute
    if enrolment.days:
        yield f"Patients are expected on given days, from day {enrolment.days[0]:g} to day {enrolment.days[-1]:g}."
    else:
        how = "at random (Poisson)" if enrolment.random else "evenly"
        yield f"Patients are expected {how}, {enrolment.per_day:g} a day."
    yield _delay(design.delay)
    for what, rate in (("outcomes", design.missing.outcome), ("reports of what was taken", design.missing.taken)):
        if rate != Rate():
            yield f"Of {what}, {_rate(rate)} are expected to stay missing."
    if impute is not None:
        taken = ["nothing taken"] if impute.took_nothing else [f"{impute.actual} taken"] if impute.actual else []
        outcome = [] if impute.reward is None else [f"an outcome of {float(impute.reward):g}"]
        yield f"What is missing after {counted_days(impute.after_days)} counts as {joined([*taken, *outcome])}."


def counted_days(days: float) -> str:
    """Return a number of days in words."""
    return "1 day" if days == 1.0 else f"{days:g} days"


def _delay(delay: Delay) -> str:
    if delay == Delay():
        return "Outcomes are expected before the next patient."
    apart = [f"{arm} after {counted_days(days)}" for arm, days in delay.by_arm.items()]
    shape = {"fixed": "", "uniform": " on average, uniformly from 0", "exponential": " on average, exponentially"}
    among = f" ({joined(apart)})" if apart else ""
    return f"Outcomes are expected after {counted_days(delay.days)}{among}{shape[delay.distribution]}."


def _rate(rate: Rate) -> str:
    apart = [f"{percent(share)} of {name}" for name, share in (*rate.by_arm.items(), *rate.by_stratum.items())]
    for share, kind in ((rate.after_failure, "failures"), (rate.after_success, "successes")):
        if share is not None:
            apart.append(f"{percent(share)} of {kind}")
    return joined([*([percent(rate.rate)] if rate.rate or not apart else []), *apart])


def _looks(design: Design) -> Iterator[str]:
    looks, counts = design.looks, look_counts(design)
    if looks.days:
        yield f"The trial is looked at after days {joined(f'{day:g}' for day in looks.days)}, and at its end."
    elif looks.every is not None:
        yield f"The trial is looked at after every {looks.every} patients with outcomes, and at its end."
    elif len(counts) > 1:
        before = joined(f"{n}" for n in counts[:-1])
        yield f"The trial is looked at when {before} patients have outcomes, and at its end."
    elif design.stopping is not None:
        yield "The trial is looked at once, at its end."


def _reported(design: Design) -> Iterator[str]:
    if design.estimands:
        yield f"Effects are estimated {joined(_ESTIMANDS[name] for name in design.estimands)}."
