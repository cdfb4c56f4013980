"""Compare every policy on one fixed grid of populations and horizons: `adhere arena`."""
