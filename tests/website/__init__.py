"""The documentation site: its sources, and the built site in a browser."""
