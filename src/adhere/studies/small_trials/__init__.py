"""Reproduce Figure 3: trials of twelve patients, each with its own population."""
