"""Check a design: errors name the field, and warnings are sentences.

Types are checked earlier, when a design is read or made.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from adhere.checks import MAX_COUNT, check_text, check_unique
from adhere.design.design import Design
from adhere.design.parts import Rate
from adhere.design.planned_looks import burn_in_of
from adhere.design.stopping_checks import check_stopping, may_drop_arms
from adhere.design.warnings import design_warnings
from adhere.errors import InputError, nearest
from adhere.policies import BurnIn, Floor, as_policy
from adhere.policies.base.policy import AnyLearner
from adhere.policies.guards.guard import inside_guards

MAX_DAYS = 36500.0
MAX_LOOKS = 10_000
MAX_PER_DAY = 1e6
_DAYS = f"a number of days from 0 to {MAX_DAYS:,.0f}"


def check(design: Design) -> tuple[str, ...]:
    """Return warnings about a design; raise an `InputError` if it cannot be run."""
    if design.control is not None and design.control not in design.arms:
        raise InputError("control", design.control, nearest(design.control, design.arms))
    if design.repeats and design.entries != "repeated":
        expected = "'repeated', since repeats lets a subject have several open recommendations"
        sentence = f"entries: {design.entries!r} and repeats exclude each other; leave one of them out"
        raise InputError("entries", design.entries, expected, sentence)
    check_unique("estimands", design.estimands)
    _check_strata(design)
    _check_looks(design)
    _check_policy(design)
    _check_enrolment(design)
    _check_days("delay.days", [design.delay.days])
    _check_by_name("delay.by_arm", design.delay.by_arm, design.arms, "the arms")
    _check_days("delay.by_arm", design.delay.by_arm.values())
    _check_rate("missing.outcome", design.missing.outcome, design)
    _check_rate("missing.taken", design.missing.taken, design)
    check_stopping(design)
    return tuple(design_warnings(design))


def _check_strata(design: Design) -> None:
    for name in design.strata:
        check_text("strata", name)
    check_unique("strata", design.strata)
    if len(design.strata) == 1:
        raise InputError("strata", list(design.strata), "at least two strata, or none")
    if design.strata and not isinstance(as_policy(design.policy), BurnIn):
        expected = "burn-in(…) outermost: strata are balanced in the blocks of a burn-in"
        raise InputError("policy", design.policy, expected)


def _check_looks(design: Design) -> None:
    looks, n_patients = design.looks, design.n_patients
    given = [f"looks.{name}" for name in ("at", "every", "days") if getattr(looks, name) not in ((), None)]
    if len(given) > 1:
        both = " and ".join(given)
        raise InputError(given[0], "both", "one way to look", f"{both} exclude each other; give one of them")
    if n_patients is None:
        needing = [*given, *["stopping"] * (design.stopping is not None), *["strata"] * bool(design.strata)]
        if needing:
            sentence = f"{needing[0]} needs n_patients, the largest number of patients"
            raise InputError("n_patients", None, "the largest number of patients", sentence)
    elif n_patients >= MAX_COUNT:
        raise InputError("n_patients", n_patients, "a number of patients below 2**53")
    elif looks.at:
        _check_increasing("looks.at", looks.at)
        if looks.at[0] < 1 or looks.at[-1] > n_patients:
            raise InputError("looks.at", list(looks.at), f"numbers of patients from 1 to n_patients, {n_patients}")
    elif looks.every is not None and not 1 <= looks.every <= n_patients:
        raise InputError("looks.every", looks.every, f"a number of patients from 1 to n_patients, {n_patients}")
    n_looks = len(looks.at) + len(looks.days) + ((n_patients or 0) // looks.every if looks.every else 0)
    if n_looks > MAX_LOOKS:  # before the looks are listed
        raise InputError("looks", f"{n_looks:,} of them", f"at most {MAX_LOOKS:,} looks")
    _check_increasing("looks.days", looks.days)
    _check_days("looks.days", looks.days)
    if design.update == "at looks" and not given:
        expected = "looks beside it (looks.at, looks.every or looks.days), or 'every patient'"
        raise InputError("update", design.update, expected)


def _check_policy(design: Design) -> None:
    policy = as_policy(design.policy)
    burn_in, n_patients = burn_in_of(design).patients, design.n_patients
    if n_patients is not None and burn_in > n_patients:
        sentence = f"policy: the burn-in takes {burn_in} patients, more than n_patients, {n_patients}"
        raise InputError("policy", design.policy, f"a burn-in of at most {n_patients} patients", sentence)
    if design.control not in (None, design.arms[0]):
        for part in policy.parts():
            if isinstance(part, Floor) and part.control is not None:
                expected = f"{design.arms[0]!r}, the first arm, which floor(control={part.control:g}) is about"
                raise InputError("control", design.control, expected)
    field = "update" if design.update == "at looks" else "stopping" if may_drop_arms(design) else ""
    if field and not isinstance(inside_guards(policy), AnyLearner):
        why = "probabilities are frozen between looks" if field == "update" else "arms can be dropped"
        expected = f"a learner, guarded or not: {why} ({field}), and a hybrid has no probabilities of its own then"
        raise InputError("policy", design.policy, expected)


def _check_enrolment(design: Design) -> None:
    enrolment, n_patients = design.enrolment, design.n_patients
    if not 0.0 < enrolment.per_day <= MAX_PER_DAY:
        raise InputError(
            "enrolment.per_day", enrolment.per_day, f"a number of patients above 0, to {MAX_PER_DAY:,.0f}"
        )
    if not enrolment.days:
        return
    if enrolment.random or enrolment.per_day != 1.0:
        other = "enrolment.random" if enrolment.random else "enrolment.per_day"
        sentence = f"enrolment.days and {other} exclude each other; give one of them"
        raise InputError("enrolment.days", "both", "days, or how many come a day", sentence)
    _check_days("enrolment.days", enrolment.days)
    if any(later < earlier for earlier, later in pairwise(enrolment.days)):
        raise InputError("enrolment.days", list(enrolment.days), "days in their order")
    if n_patients != len(enrolment.days):
        expected = f"a day for each patient, and n_patients is {n_patients}"
        raise InputError("enrolment.days", f"{len(enrolment.days)} days", expected)


def _check_rate(field: str, rate: Rate, design: Design) -> None:
    _check_by_name(f"{field}.by_arm", rate.by_arm, design.arms, "the arms")
    if rate.by_stratum and not design.strata:
        raise InputError(f"{field}.by_stratum", dict(rate.by_stratum), "none, since the design has no strata")
    _check_by_name(f"{field}.by_stratum", rate.by_stratum, design.strata, "the strata")
    for name, value in rate.shares():
        if not 0.0 <= value <= 1.0:
            raise InputError(f"{field}.{name}", value, "a share from 0 to 1")


def _check_by_name(field: str, given: Mapping[str, float], known: Sequence[str], whose: str) -> None:
    for name in given:
        if name not in known:
            sentence = f"{field}: {name!r} is not among {whose}; expected {nearest(name, known)}"
            raise InputError(field, name, nearest(name, known), sentence)


def _check_increasing(field: str, values: Sequence[float]) -> None:
    if any(later <= earlier for earlier, later in pairwise(values)):
        raise InputError(field, list(values), "numbers that increase")


def _check_days(field: str, values: Iterable[float]) -> None:
    for value in values:
        if not 0.0 <= value <= MAX_DAYS:  # this also refuses NaN
            raise InputError(field, value, _DAYS)
