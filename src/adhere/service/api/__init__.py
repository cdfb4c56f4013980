"""The HTTP API: the table of routes, what they take and answer, and who may use them."""
