"""Learners that are told the arm that a protocol credits, one file for each algorithm."""
