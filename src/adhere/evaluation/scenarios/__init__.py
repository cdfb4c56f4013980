"""Scenarios for the evaluation of designs, and the truth in each."""
