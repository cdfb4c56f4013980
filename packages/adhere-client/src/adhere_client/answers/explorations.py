"""What `explore` returns: who is fooled in a population of four compliance types, and how policies fare there."""

from __future__ import annotations

from adhere_client.answers.answer import Answer

Pair = tuple[float | None, float | None]  # of control and treatment


class ExploredGroup(Answer, frozen=True):
    """A compliance type: its share of the patients, and its mean reward if it takes the control or the treatment."""

    name: str
    share: float
    control: float
    treatment: float


class ExplorationSettings(Answer, frozen=True):
    """Everything that decides what an exploration shows."""

    groups: tuple[ExploredGroup, ...]
    policies: tuple[str, ...]
    n_patients: int
    n_runs: int
    seed: int


class ExploredTruth(Answer, frozen=True):
    """The mean reward of each arm, control first: if everybody is told to take it, and if everybody took it."""

    mean_given_chosen: tuple[float, float]
    mean_if_taken: tuple[float, float]


class ExploredBelief(Answer, frozen=True):
    """The mean reward that a protocol credits to each arm, and whether that is right."""

    protocol: str
    analysis_set: str
    means: Pair
    lowest: Pair
    highest: Pair
    verdict: str
    sentence: str


class ExploredInterval(Answer, frozen=True):
    """A mean over runs and its 95% Monte Carlo interval; a single run has none."""

    mean: float
    low: float | None
    high: float | None


class ExploredCurve(Answer, frozen=True):
    """A measure along the trial: its mean over runs and 95% Monte Carlo interval."""

    mean: list[float]
    low: list[float] | None
    high: list[float] | None


class ExploredPolicy(Answer, frozen=True):
    """How a policy fared."""

    policy: str
    title: str
    surplus: ExploredInterval
    regret: ExploredInterval
    allocation_treatment: ExploredInterval
    worse_than_randomisation: ExploredInterval
    surplus_q05: float
    surplus_curve: ExploredCurve
    regret_curve: ExploredCurve


class Exploration(Answer, frozen=True):
    """Who is fooled and why, what is true and believed, and how policies fare after so many patients."""

    settings: ExplorationSettings
    sentence: str
    truth: ExploredTruth
    beliefs: list[ExploredBelief]
    t: list[int]
    policies: list[ExploredPolicy]
