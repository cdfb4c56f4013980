"""The log of a trial: its hash chain, replay, explanation, export and import."""
