"""Run long computations in separate processes."""
