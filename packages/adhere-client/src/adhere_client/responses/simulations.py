"""Responses about policies, simulated designs and explored populations."""

from typing import Annotated

from adhere_client.responses import Response, about

Pair = tuple[float | None, float | None]  # for control and treatment


class PolicyParameter(Response, frozen=True, omit_defaults=False):
    """A parameter of a policy. Without a default, it is either required or set by the policy."""

    name: str
    meaning: str
    expected: Annotated[str, about("The allowed values, in words.")]
    required: bool
    default: str | None = None


class PolicyDetails(Response, frozen=True, omit_defaults=False):
    """A policy: a description, its parameters, and its requirements on a trial."""

    name: str
    kind: Annotated[str, about("learner, learner that sees both arms, hybrid or guard.")]
    summary: str
    example: Annotated[str, about("The form in which a design names it.")]
    parameters: list[PolicyParameter]
    protocols: Annotated[
        tuple[str, ...],
        about("The protocols (written after a slash): which arm is credited with a reward. The default is first."),
    ]
    needs_n_patients: Annotated[bool, about("Whether n_patients is needed, unless a parameter sets it.")]
    states_probabilities: Annotated[
        bool | None, about("If not, they are estimated by drawing; null: as what is inside it does.")
    ] = None


class PolicyList(Response, frozen=True):
    """Every policy that a design of this service may name."""

    policies: list[PolicyDetails]


class Characteristic(Response, frozen=True):
    """An operating characteristic with its Monte Carlo standard error and 95% interval, or why it is missing."""

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
    """A scenario, its true values, and the operating characteristics of the design in it."""

    name: str
    null: Annotated[str | None, about("sharp, average, or none.")]
    effect: Annotated[float | None, about("null if arms have separate effects.")]
    compliance: float | None
    confounding: float | None
    mean_given_chosen: Annotated[list[float], about("The mean outcome if an arm is recommended.")]
    characteristics: list[Characteristic]
    baseline: Annotated[float | None, about("The mean outcome of compliers without an effect.")] = None


class SimulationLine(Response, frozen=True):
    """A simulation in a list: the name of its design, and its state."""

    id: int
    name: str
    state: Annotated[str, about("waiting, running, done, failed or stopped.")]
    n_trials: Annotated[int, about("Trials in each scenario.")]


class SimulationList(Response, frozen=True):
    """The simulations that a token started within the last hour, newest first."""

    simulations: list[SimulationLine]


class Simulation(Response, frozen=True):
    """A simulation of a design: its state and, once it is done, the operating characteristics."""

    id: int
    state: Annotated[str, about("waiting, running, done, failed or stopped.")]
    n_trials: Annotated[int, about("Trials in each scenario.")]
    seed: Annotated[str, about("Sent as text, because JavaScript rounds large numbers.")]
    done: Annotated[int, about("Patients simulated so far.")] = 0
    total: Annotated[int, about("Patients to simulate, if no trial stops early.")] = 0
    doing: Annotated[str, about("What is done before the first patient, such as compiling.")] = ""
    reason: Annotated[str, about("The reason of a failure.")] = ""
    design_digest: str | None = None
    scenarios: list[SimulatedScenario] | None = None
    meanings: Annotated[dict[str, str] | None, about("The meaning of each characteristic.")] = None
    notes: tuple[str, ...] = ()
    report: Annotated[
        str | None, about("The report's state once the simulation is done: being made, ready or not available.")
    ] = None
    name: Annotated[str, about("The name of the design.")] = ""


class ExploredGroup(Response, frozen=True):
    """A compliance type: its share of the patients, and its mean rewards when taking the control or the treatment."""

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
    """The mean reward of each arm, control first, if it is recommended to everybody and if everybody takes it."""

    mean_given_chosen: tuple[float, float]
    mean_if_taken: Annotated[
        tuple[float, float], about("Includes patients who would never take it, so no trial can observe it.")
    ]


class ExploredBelief(Response, frozen=True, omit_defaults=False):
    """The mean reward that a protocol credits to each arm, control first, if arms are recommended equally often.

    The protocol Actual depends on how often each arm is recommended. Its lowest and highest values cover
    recommendation shares from 1% to 99%. The verdict is right, fooled, undecided, depends or uninformed.
    """

    protocol: str
    analysis_set: str
    means: Pair
    lowest: Pair
    highest: Pair
    verdict: str
    sentence: str


class ExploredInterval(Response, frozen=True):
    """A mean over runs with its 95% Monte Carlo interval. A single run has no interval."""

    mean: float
    low: float | None
    high: float | None


class ExploredCurve(Response, frozen=True):
    """The course of a measure: its mean over runs and 95% Monte Carlo interval after each number of patients in t."""

    mean: list[float]
    low: list[float] | None
    high: list[float] | None


class ExploredPolicy(Response, frozen=True):
    """The performance of one policy in an exploration."""

    policy: str
    title: str
    surplus: Annotated[ExploredInterval, about("Reward above randomisation, summed over a trial.")]
    regret: Annotated[ExploredInterval, about("Reward lost against always recommending the better arm.")]
    allocation_treatment: Annotated[ExploredInterval, about("The share of patients told to take the treatment.")]
    worse_than_randomisation: Annotated[ExploredInterval, about("The share of runs with a surplus below 0.")]
    surplus_q05: Annotated[float, about("The surplus that only 5% of runs fall below.")]
    surplus_curve: ExploredCurve
    regret_curve: ExploredCurve


class Exploration(Response, frozen=True):
    """An exploration: the true and believed means, which protocols are misled and why, and the performance of
    policies.
    """

    settings: ExplorationSettings
    sentence: Annotated[str, about("Who is fooled, and why.")]
    truth: ExploredTruth
    beliefs: list[ExploredBelief]
    t: Annotated[list[int], about("The numbers of patients at which curves are given.")]
    policies: list[ExploredPolicy]
