"""Go past the paper: repeat its Figures 1 and 3 with policies that the paper does not have."""
