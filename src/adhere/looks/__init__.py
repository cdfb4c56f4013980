"""Decisions at a look: rules compared with evidence, for simulated and live trials alike."""

from adhere.looks import belief as belief  # these four implement `judge` for their rules
from adhere.looks import posterior as posterior
from adhere.looks import wealth as wealth
from adhere.looks import z_test as z_test
