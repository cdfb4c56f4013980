from __future__ import annotations

# The same fixtures: all tests of a composition, here and there, run in a row in one process, so it is compiled once.
from contract.conftest import n_arms as n_arms
from contract.conftest import subject as subject
