"""Decisions at a look: rules compared with evidence, for simulated and live trials alike."""
