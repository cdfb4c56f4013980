"""Judgement of which views can be trusted for these records, and why, in words."""
