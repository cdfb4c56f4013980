"""Tables read into records: which column is what, the order of decision, arms, probabilities."""
