"""Mathematics of policies: Beta and Gamma variates, exponential weights, selection."""
