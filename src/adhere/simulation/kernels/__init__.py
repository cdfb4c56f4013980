"""Compiled loops over patients, and the runners that start them."""

NO_FAULT = -(2**62)  # return value of a loop, unless a policy chose an arm that does not exist
