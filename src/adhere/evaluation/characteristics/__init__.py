"""Operating characteristics: from simulated trials to estimates with Monte Carlo errors."""
