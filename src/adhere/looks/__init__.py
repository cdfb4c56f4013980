"""Decisions at a look: rules compared with evidence, for simulated and live trials alike."""

from adhere.looks import rule_kinds as rule_kinds  # implements `judge` for every kind of rules
