"""The design of a trial: its fields, checks, file format, sentences and look rules."""
