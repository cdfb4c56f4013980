"""A trial's log: its hash chain, replay, explanation, export and import."""
