"""The HTTP API: the table of routes with their requests, responses and permissions."""
