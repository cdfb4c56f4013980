"""Execution of tasks: threads, a GPU, or the workers of an executor."""
