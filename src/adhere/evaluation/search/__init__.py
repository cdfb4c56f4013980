"""Search for a parameter of a design: calibration and sample size."""
