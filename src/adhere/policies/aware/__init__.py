"""Learners that see both the chosen arm and the actual arm."""
