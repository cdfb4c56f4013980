"""Live trials over HTTP."""
