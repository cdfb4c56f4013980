"""Check Propositions 2 and 3: where Actual is best, where Comply is best, and the expectations in the proofs."""
