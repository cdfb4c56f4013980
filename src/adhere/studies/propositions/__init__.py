"""Propositions 2 and 3: where Actual is best, where Comply is, and the expectations of the proofs."""
