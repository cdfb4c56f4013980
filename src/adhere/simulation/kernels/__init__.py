"""Compiled loops over patients, and the runners that start them."""
