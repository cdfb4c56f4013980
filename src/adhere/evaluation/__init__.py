"""Operating characteristics of designs by simulation: evaluation, calibration, sample size and report."""
