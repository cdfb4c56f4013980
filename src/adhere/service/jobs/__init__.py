"""Long computations, which run in processes of their own."""
