"""Check whether the intervals hold: analyse thousands of trials with known truth, with fixed and adaptive
allocation.
"""
