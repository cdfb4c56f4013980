"""Measures of runs, accumulated in memory that does not grow with the number of runs."""
