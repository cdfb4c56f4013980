"""Check Theorems 1 and 2: how regret grows with the number of patients, from a hundred to a million."""
