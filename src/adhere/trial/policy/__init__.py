"""The policy of a live trial: its compiled steps, probabilities and failures."""
