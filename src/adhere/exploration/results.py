"""What an exploration shows, as it is sent."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from adhere.exploration.beliefs import Belief, Truth
from adhere.exploration.settings import Settings


class Interval(Struct, frozen=True):
    """A mean over runs and its 95% Monte Carlo interval; a single run has none."""

    mean: float
    low: float | None
    high: float | None


class Curve(Struct, frozen=True):
    """A measure after each of the numbers of patients in `t`: its mean over runs and 95% interval."""

    mean: list[float]
    low: list[float] | None
    high: list[float] | None


class PolicyOutcome(Struct, frozen=True):
    """How a policy fared."""

    policy: str
    title: str
    surplus: Annotated[Interval, Meta(description="Reward above randomisation, summed over a trial.")]
    regret: Annotated[Interval, Meta(description="Reward lost against always recommending the better arm.")]
    allocation_treatment: Annotated[Interval, Meta(description="The share of patients told to take the treatment.")]
    worse_than_randomisation: Annotated[Interval, Meta(description="The share of runs with a surplus below 0.")]
    surplus_q05: Annotated[float, Meta(description="The surplus that 5% of runs stay below.")]
    surplus_curve: Curve
    regret_curve: Curve


class Exploration(Struct, frozen=True):
    """What an exploration shows."""

    settings: Settings
    sentence: Annotated[str, Meta(description="Who is fooled, and why.")]
    truth: Truth
    beliefs: list[Belief]
    t: Annotated[list[int], Meta(description="The numbers of patients at which curves are given.")]
    policies: list[PolicyOutcome]
