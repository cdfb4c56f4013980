"""What records say of a treatment when not everybody took it: arrays in, estimates with their intervals out."""
