"""Schedules of what the sites of a trial send, drawn from a seed before anything is recommended.

Times are in patients: the mean time between two arrivals is 1.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from adhere.demo.trials import DemoTrial
from adhere.randomness import DELAY, stream_keys, uniforms

_DRAWS = 16  # the largest number of draws for a patient
T = TypeVar("T")


class Draws:
    """Random numbers of one patient, and draws made from them."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._numbers = iter(numbers)

    def happens(self, share: float) -> bool:
        """Draw whether an event happens that affects this share of patients."""
        return next(self._numbers) < share

    def wait(self, mean: float) -> float:
        """Draw an exponential time with this mean."""
        return -mean * math.log1p(-next(self._numbers))

    def one_of(self, choices: Sequence[T]) -> T:
        """Draw one of several choices, all equally likely."""
        return choices[int(next(self._numbers) * len(choices))]

    def by_share(self, shares: Mapping[T, float]) -> T | None:
        """Draw one of several choices, each with its share, or None with the remaining probability."""
        number = next(self._numbers)
        for choice, share in shares.items():
            if number < share:
                return choice
            number -= share
        return None


def draws_of_patients(seed: int, run: int, n_patients: int) -> Iterator[Draws]:
    """Return the draws of each patient of a run, in order.

    >>> first, second = draws_of_patients(7, 0, 2)
    >>> first.one_of("abc"), second.one_of("abc")
    ('a', 'b')
    """
    keys, patients = stream_keys(seed, run, 1), np.arange(n_patients)
    columns = [uniforms(keys, patients, DELAY, draw)[0] for draw in range(_DRAWS)]
    return (Draws(row) for row in np.stack(columns, axis=1).tolist())


SITES: Final = ("Edinburgh", "Milan", "Oslo")


@dataclass(frozen=True)
class Patient:
    """A patient at a site: what they would take, and what would follow, for each arm that may be recommended."""

    subject: str
    site: str
    stratum: str | None
    arms: tuple[str, ...]
    actual: tuple[int, ...]
    reward: tuple[float, ...]

    def taken(self, *, wrong: bool = False) -> list[dict[str, Any]]:
        """Return the report of the arm taken, for each arm recommended; a wrong report names another arm."""
        return [{"actual": self.arms[(arm + wrong) % len(self.arms)]} for arm in self.actual]

    def outcome(self, *, wrong: bool = False) -> list[dict[str, Any]]:
        """Return the report of the outcome, for each arm recommended; a wrong report has the opposite outcome."""
        return [{"reward": 1.0 - reward if wrong else reward} for reward in self.reward]

    def same(self, **said: Any) -> list[dict[str, Any]]:
        """Return the same report for each arm recommended."""
        return [said for _ in self.arms]


def draw_patients(trial: DemoTrial, seed: int, run: int) -> Iterator[tuple[Patient, Draws]]:
    """Yield all patients of a trial, with draws for what happens to them, determined by the seed and the run."""
    drawn = trial.population.patients(seed, run, trial.n_patients)
    for number, draws in enumerate(draws_of_patients(seed, run, trial.n_patients)):
        site = draws.one_of(SITES)
        patient = Patient(
            subject=f"{site[0]}-{number + 1:04}",
            site=site,
            stratum=draws.one_of(trial.strata) if trial.strata else None,
            arms=trial.arms,
            actual=tuple(drawn.actual[number].tolist()),
            reward=tuple(drawn.reward[number].tolist()),
        )
        yield patient, draws


Call: TypeAlias = Literal["recommend", "report", "correct", "withdraw", "mark_in_error"]

_UNTIL_TAKEN, _UNTIL_OUTCOME, _UNTIL_NOTICED = 2.0, 15.0, 10.0  # mean times
_IN_PARTS: Final = 0.5  # share of patients whose arm taken is reported first, and the outcome later
_TWICE: Final = 0.05  # share of requests, e.g. because a phone lost the response
_TROUBLES: Final = {  # shares of patients
    "nothing heard": 0.02,
    "no outcome": 0.02,
    "lost": 0.02,
    "took other": 0.01,
    "wrong outcome": 0.03,
    "wrong arm": 0.02,
    "entered in error": 0.01,
}


@dataclass(frozen=True)
class Action:
    """A request of a site about a subject; `said` contains its fields for each arm that may have been recommended."""

    time: float
    patient: Patient
    call: Call
    said: Sequence[dict[str, Any]]
    twice: bool = False

    @property
    def key(self) -> str:
        """Request ID; a request that is sent twice with the same ID runs once."""
        return "-".join((self.patient.subject, self.call, *self.said[0]))


def schedule(trial: DemoTrial, seed: int, run: int) -> list[Action]:
    """Return all requests of the sites, in order of time, determined by the seed and the run."""
    actions: list[Action] = []
    arrival = 0.0
    for patient, draws in draw_patients(trial, seed, run):
        arrival += draws.wait(1.0)
        actions += _actions(patient, arrival, trial.took_other, draws)
    return sorted(actions, key=lambda action: action.time)


def _actions(patient: Patient, arrival: float, took_other: str, draws: Draws) -> Iterator[Action]:
    yield Action(arrival, patient, "recommend", patient.same(stratum=patient.stratum), draws.happens(_TWICE))
    trouble = draws.by_share(_TROUBLES)
    at_taken = arrival + draws.wait(_UNTIL_TAKEN)
    at_outcome = at_taken + draws.wait(_UNTIL_OUTCOME)
    at_notice = at_outcome + draws.wait(_UNTIL_NOTICED)
    in_parts, twice = draws.happens(_IN_PARTS), draws.happens(_TWICE)

    taken = patient.taken(wrong=trouble == "wrong arm")
    if trouble == "took other":
        taken = patient.same(took_other=took_other)
    outcome = patient.outcome(wrong=trouble == "wrong outcome")

    if trouble == "nothing heard":
        return
    if trouble == "entered in error":
        yield Action(at_taken, patient, "mark_in_error", patient.same(reason="entered at the wrong site"))
        return
    if trouble in ("no outcome", "lost"):
        yield Action(at_taken, patient, "report", taken, twice)
    elif in_parts:
        yield Action(at_taken, patient, "report", taken)
        yield Action(at_outcome, patient, "report", outcome, twice)
    else:
        both = [one | other for one, other in zip(taken, outcome, strict=True)]
        yield Action(at_outcome, patient, "report", both, twice)

    if trouble == "lost":
        yield Action(at_notice, patient, "withdraw", patient.same(reason="moved away"))
    elif trouble == "wrong arm":
        right = [{"reason": "chart of another patient", **said} for said in patient.taken()]
        yield Action(at_notice, patient, "correct", right)
    elif trouble == "wrong outcome":
        right = [{"reason": "typing error", **said} for said in patient.outcome()]
        yield Action(at_notice, patient, "correct", right)
