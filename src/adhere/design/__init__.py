"""The design of a trial: one value, its parts, checks, file, text and words."""
