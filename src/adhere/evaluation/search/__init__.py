"""Search for a number of a design: calibration and sample size."""
