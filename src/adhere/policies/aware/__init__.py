"""Learners that are told both arms, chosen and actual."""
