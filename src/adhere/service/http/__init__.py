"""The HTTP server: connections, limits, proxies, workers. It knows nothing of trials."""
