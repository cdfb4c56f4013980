"""Measures of runs, accumulated in memory that does not grow with their number."""
