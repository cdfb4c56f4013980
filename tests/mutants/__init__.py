"""Slips that the tests must notice: `scripts/mutants` makes each in a copy, and says which test saw it."""
