"""Operating characteristics, from simulated trials to estimates with their Monte Carlo errors."""
