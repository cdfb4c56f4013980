"""The page New trial, on which a design from a form or a file is checked and simulated, and a trial is created."""
