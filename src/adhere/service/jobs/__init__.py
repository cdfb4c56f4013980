"""What takes long runs in a process of its own, by name."""
