"""Looks at a live trial: when one is due, its evidence, and how it is shown."""
