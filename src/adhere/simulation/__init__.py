"""Many trials at once: one engine and what it found."""

from adhere.intervals import Estimate as Estimate
from adhere.simulation.policy_name import PlainPolicy as PlainPolicy
from adhere.simulation.results.outcome import Outcome as Outcome
from adhere.simulation.results.result import SimulationResult as SimulationResult
from adhere.simulation.simulate import simulate as simulate
