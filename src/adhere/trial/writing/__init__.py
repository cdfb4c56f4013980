"""Write to a stored trial: execute commands in transactions, and update the caches beside the log."""
