"""Hybrids: policies made of other policies, as in the paper."""
