"""The paper's idea to play with: four compliance types, their rewards, a few policies; who is fooled, and why."""
