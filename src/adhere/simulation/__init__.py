"""Simulation of many trials at once: plans, execution, compiled loops, measures and results."""

from adhere.intervals import Estimate as Estimate
from adhere.simulation.kernels.python_runner import PlainPolicy as PlainPolicy
from adhere.simulation.results.outcome import Outcome as Outcome
from adhere.simulation.results.result import SimulationResult as SimulationResult
from adhere.simulation.simulate import simulate as simulate
