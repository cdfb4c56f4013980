"""Many trials at once: one engine and what it found."""

from adhere.simulation.moments import Estimate
from adhere.simulation.result import Outcome, SimulationResult, Trajectory
from adhere.simulation.simulate import simulate

__all__ = ["Estimate", "Outcome", "SimulationResult", "Trajectory", "simulate"]
