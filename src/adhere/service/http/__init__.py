"""The HTTP server: connections, limits, proxies and workers. It is independent of trials."""
