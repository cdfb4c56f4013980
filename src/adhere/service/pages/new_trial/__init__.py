"""New trial: a design from a form or a file, checked, simulated, and then created."""
