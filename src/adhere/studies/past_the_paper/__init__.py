"""Go past the paper: its Figures 1 and 3, with policies that it does not have."""
