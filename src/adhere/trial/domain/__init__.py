"""A trial as commands, events and a state: pure values, and `evolve`, the one reducer."""
