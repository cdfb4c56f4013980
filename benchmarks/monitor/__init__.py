"""The monitor of a long trial: how soon it is painted, what sites notice of those who watch, what latency tells."""
