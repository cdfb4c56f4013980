"""Compiled simulation of one trial of a design."""
