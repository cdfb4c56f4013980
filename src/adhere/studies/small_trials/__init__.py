"""Figure 3: trials of twelve patients, each with a population of its own."""
