"""Tables read into records: roles of columns, order of decision, arms and probabilities."""
