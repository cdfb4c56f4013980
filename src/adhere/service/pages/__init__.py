"""Pages for people: what this service is, and its API. A page holds its own style and script."""
