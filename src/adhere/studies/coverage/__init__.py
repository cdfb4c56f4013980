"""Check the coverage of intervals: analyse thousands of trials with known truth, by fixed and adaptive designs."""
