"""Policies, and designs and populations that the service simulates."""

from typing import Annotated

from adhere_client.responses import Response, about

Pair = tuple[float | None, float | None]  # of control and treatment


class PolicyParameter(Response, frozen=True, omit_defaults=False):
    """A parameter of a policy; without a default it is required, or the policy sets it."""

    name: str
    meaning: str
    expected: Annotated[str, about("What it must be, in words.")]
    required: bool
    default: str | None = None


class PolicyDetails(Response, frozen=True, omit_defaults=False):
    """A policy: what it does, its parameters, and what it needs of a trial."""

    name: str
    kind: Annotated[str, about("learner, learner that sees both arms, hybrid or guard.")]
    summary: str
    example: Annotated[str, about("How a design writes it.")]
    parameters: list[PolicyParameter]
    protocols: Annotated[
        tuple[str, ...], about("Which arm is credited with a reward, after a slash; the default first.")
    ]
    needs_n_patients: Annotated[bool, about("Whether n_patients is needed, unless a parameter says it.")]
    states_probabilities: Annotated[
        bool | None, about("If not, they are estimated by drawing; null: as what is inside it does.")
    ] = None


class PolicyList(Response, frozen=True):
    """Every policy that a design of this service may name."""

    policies: list[PolicyDetails]


class Characteristic(Response, frozen=True):
    """An operating characteristic with its Monte Carlo standard error and 95% interval, or why there is none."""

    name: str
    mean: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    arm: str | None = None
    estimand: str | None = None
    method: str | None = None
    reason: str | None = None


class SimulatedScenario(Response, frozen=True, omit_defaults=False):
    """A scenario, what is true in it, and how trials of the design behave in it."""

    name: str
    null: Annotated[str | None, about("sharp, average, or none.")]
    effect: Annotated[float | None, about("null where arms have effects of their own.")]
    compliance: float | None
    confounding: float | None
    mean_given_chosen: Annotated[list[float], about("The mean outcome if an arm is recommended.")]
    characteristics: list[Characteristic]
    baseline: Annotated[float | None, about("The mean outcome of those who comply without an effect.")] = None


class SimulationLine(Response, frozen=True):
    """A simulation in a list: the name of its design, and its state."""

    id: int
    name: str
    state: Annotated[str, about("waiting, running, done, failed or stopped.")]
    n_trials: Annotated[int, about("In each scenario.")]


class SimulationList(Response, frozen=True):
    """The simulations that a token started within the last hour, the newest first."""

    simulations: list[SimulationLine]


class Simulation(Response, frozen=True):
    """A simulation of a design: its state, and at its end the operating characteristics."""

    id: int
    state: Annotated[str, about("waiting, running, done, failed or stopped.")]
    n_trials: Annotated[int, about("In each scenario.")]
    seed: Annotated[str, about("As text, since JavaScript rounds large numbers.")]
    done: Annotated[int, about("Patients simulated so far.")] = 0
    total: Annotated[int, about("Patients to simulate, if no trial stops early.")] = 0
    doing: Annotated[str, about("What is done before the first patient, such as compiling.")] = ""
    reason: Annotated[str, about("Why it failed.")] = ""
    design_digest: str | None = None
    scenarios: list[SimulatedScenario] | None = None
    meanings: Annotated[dict[str, str] | None, about("What each characteristic is.")] = None
    notes: tuple[str, ...] = ()
    report: Annotated[str | None, about("Of a simulation that is done: being made, ready or not available.")] = None
    name: Annotated[str, about("Of the design.")] = ""


class ExploredGroup(Response, frozen=True):
    """A compliance type: its share of the patients, and its mean reward if it takes the control or the treatment."""

    name: Annotated[str, about("never-takers, always-takers, compliers or defiers")]
    share: float
    control: float
    treatment: float


class ExplorationSettings(Response, frozen=True):
    """The population, policies, size and seed of an exploration."""

    groups: tuple[ExploredGroup, ...]
    policies: tuple[str, ...]
    n_patients: int
    n_runs: int
    seed: int


class ExploredTruth(Response, frozen=True):
    """The mean reward of each arm, control first: if everybody is told to take it, and if everybody took it."""

    mean_given_chosen: tuple[float, float]
    mean_if_taken: Annotated[tuple[float, float], about("Also by those who never would: no trial can see it.")]


class ExploredBelief(Response, frozen=True, omit_defaults=False):
    """The mean reward that a protocol credits to each arm, control first, where arms are recommended evenly.

    What Actual credits depends on how often each arm is recommended: lowest and highest are over 1% to 99%. The
    verdict is right, fooled, undecided, depends or uninformed.
    """

    protocol: str
    analysis_set: str
    means: Pair
    lowest: Pair
    highest: Pair
    verdict: str
    sentence: str


class ExploredInterval(Response, frozen=True):
    """A mean over runs and its 95% Monte Carlo interval; a single run has none."""

    mean: float
    low: float | None
    high: float | None


class ExploredCurve(Response, frozen=True):
    """A measure after each of the numbers of patients in t: its mean over runs and 95% Monte Carlo interval."""

    mean: list[float]
    low: list[float] | None
    high: list[float] | None


class ExploredPolicy(Response, frozen=True):
    """How a policy fared."""

    policy: str
    title: str
    surplus: Annotated[ExploredInterval, about("Reward above randomisation, summed over a trial.")]
    regret: Annotated[ExploredInterval, about("Reward lost against always recommending the better arm.")]
    allocation_treatment: Annotated[ExploredInterval, about("The share of patients told to take the treatment.")]
    worse_than_randomisation: Annotated[ExploredInterval, about("The share of runs with a surplus below 0.")]
    surplus_q05: Annotated[float, about("The surplus that 5% of runs stay below.")]
    surplus_curve: ExploredCurve
    regret_curve: ExploredCurve


class Exploration(Response, frozen=True):
    """An exploration: who is fooled and why, what is true and believed, and how policies fare."""

    settings: ExplorationSettings
    sentence: Annotated[str, about("Who is fooled, and why.")]
    truth: ExploredTruth
    beliefs: list[ExploredBelief]
    t: Annotated[list[int], about("The numbers of patients at which curves are given.")]
    policies: list[ExploredPolicy]
