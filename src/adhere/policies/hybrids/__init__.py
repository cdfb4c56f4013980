"""Policies made of other policies, as in the paper."""
