"""Access to the service: tokens and sessions."""
