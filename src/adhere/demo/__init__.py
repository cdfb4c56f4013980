"""The demo: a service on a temporary file, two trials, and invented patients played through the HTTP API."""
