"""Scenarios in which a design is evaluated, and the truth in each."""
