"""Compiled loops over patients, and the runners that start them."""

NO_FAULT = -(2**62)  # what a loop returns unless a policy chose an arm that does not exist
