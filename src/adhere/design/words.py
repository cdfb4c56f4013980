"""A design in plain sentences, for reports, pages and the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from adhere.analysis.records import REHEARSAL
from adhere.design.assignment_words import as_assigned, randomises
from adhere.design.design import Design
from adhere.design.parts import Delay, Rate
from adhere.design.planned_looks import burn_in_of, look_counts
from adhere.design.stopping_words import stopping_sentences
from adhere.policies import BurnIn, Floor, Learner, Uniform, as_policy
from adhere.policies.guards.guard import Guard
from adhere.report.numbers import counted, rounded_numbers

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
    """What a design says, one sentence after the other.

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


def listed(things: Iterable[str], last: str = "and") -> str:
    """Things with commas between them, and a word before the last."""
    *first, final = things
    return f"{', '.join(first)} {last} {final}" if first else final


def percent(share: float) -> str:
    """A share in per cent, with the digits it has.

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
    yield f"{many} {'is' if design.n_patients == 1 else 'are'} {how} {listed(design.arms, 'or')}{control}."
    if design.outcome_words or design.reward_values != (0.0, 1.0):
        words = [f"{word} ({value:g})" for word, value in design.outcome_words.items()]
        yield f"An outcome is {listed(words or [f'{value:g}' for value in design.reward_values], 'or')}."
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
            strata = f", within each of the strata {listed(design.strata)}" if design.strata else ""
            whom = "All" if patients == n_patients else f"The first {patients}"
            long = listed(map(str, lengths), "or")
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
    """What a simulation plays, and a live trial has its own of."""
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
        yield f"What is missing after {counted_days(impute.after_days)} counts as {listed([*taken, *outcome])}."


def counted_days(days: float) -> str:
    """A number of days."""
    return "1 day" if days == 1.0 else f"{days:g} days"


def _delay(delay: Delay) -> str:
    if delay == Delay():
        return "Outcomes are expected before the next patient."
    apart = [f"{arm} after {counted_days(days)}" for arm, days in delay.by_arm.items()]
    shape = {"fixed": "", "uniform": " on average, uniformly from 0", "exponential": " on average, exponentially"}
    among = f" ({listed(apart)})" if apart else ""
    return f"Outcomes are expected after {counted_days(delay.days)}{among}{shape[delay.distribution]}."


def _rate(rate: Rate) -> str:
    apart = [f"{percent(share)} of {name}" for name, share in (*rate.by_arm.items(), *rate.by_stratum.items())]
    for share, kind in ((rate.after_failure, "failures"), (rate.after_success, "successes")):
        if share is not None:
            apart.append(f"{percent(share)} of {kind}")
    return listed([*([percent(rate.rate)] if rate.rate or not apart else []), *apart])


def _looks(design: Design) -> Iterator[str]:
    looks, counts = design.looks, look_counts(design)
    if looks.days:
        yield f"The trial is looked at after days {listed(f'{day:g}' for day in looks.days)}, and at its end."
    elif looks.every is not None:
        yield f"The trial is looked at after every {looks.every} patients with outcomes, and at its end."
    elif len(counts) > 1:
        before = listed(f"{n}" for n in counts[:-1])
        yield f"The trial is looked at when {before} patients have outcomes, and at its end."
    elif design.stopping is not None:
        yield "The trial is looked at once, at its end."


def _reported(design: Design) -> Iterator[str]:
    if design.estimands:
        yield f"Effects are estimated {listed(_ESTIMANDS[name] for name in design.estimands)}."
