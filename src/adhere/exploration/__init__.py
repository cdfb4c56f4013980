"""The paper's idea to play with: four strata, their rewards, a few policies; who is fooled, and why."""
