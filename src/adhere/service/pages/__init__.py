"""Web pages of the service, made from templates and static files."""
