"""Many trials at once: one engine and what it found."""

from adhere.simulation.moments import Estimate
from adhere.simulation.outcome import Outcome, Trajectory
from adhere.simulation.result import SimulationResult
from adhere.simulation.simulate import simulate

__all__ = ["Estimate", "Outcome", "SimulationResult", "Trajectory", "simulate"]
