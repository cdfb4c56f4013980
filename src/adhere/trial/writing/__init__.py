"""Writing to a trial in a store: commands executed in transactions, and the caches beside the log."""
