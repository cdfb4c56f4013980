"""Interactive exploration of the paper's idea: four compliance types, their rewards, and a few policies."""
