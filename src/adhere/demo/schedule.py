"""What the sites of a trial send, and when: drawn beforehand from a seed, whatever will be recommended.

Times are in patients: one is the mean time between two arrivals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from adhere.demo.draws import Draws
from adhere.demo.patients import Patient, draw_patients
from adhere.demo.trials import DemoTrial

Call: TypeAlias = Literal["recommend", "report", "correct", "withdraw", "mark_in_error"]
Trouble: TypeAlias = Literal[
    "nothing heard", "no outcome", "lost", "took other", "wrong outcome", "wrong arm", "entered in error"
]

_UNTIL_TAKEN, _UNTIL_OUTCOME, _UNTIL_NOTICED = 2.0, 15.0, 10.0  # means
_IN_PARTS: Final = 0.5  # of patients: what was taken is reported first, the outcome later
_TWICE: Final = 0.05  # of requests, as when a phone lost the answer
_TROUBLES: Final[dict[Trouble, float]] = {  # shares of patients
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
    """A request of a site about a subject; `said` has what it says for each arm that may have been recommended."""

    time: float
    patient: Patient
    call: Call
    said: Sequence[dict[str, Any]]
    twice: bool = False

    @property
    def key(self) -> str:
        """Its request id: what is sent twice under the same one runs once."""
        return "-".join((self.patient.subject, self.call, *self.said[0]))


def schedule(trial: DemoTrial, seed: int, run: int) -> list[Action]:
    """All that the sites send, in order of time; the same for the same seed and run."""
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
