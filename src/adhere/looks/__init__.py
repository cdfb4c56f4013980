"""Decisions at looks: comparison of evidence with rules, for simulated and live trials."""

from adhere.looks import belief as belief  # these four implement `judge` for their rules
from adhere.looks import posterior as posterior
from adhere.looks import wealth as wealth
from adhere.looks import z_test as z_test
