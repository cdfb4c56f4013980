"""The domain model of a trial: pure commands, events and state, and the one reducer, `evolve`."""
