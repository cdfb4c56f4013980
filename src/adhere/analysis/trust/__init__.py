"""Which view can be trusted here, and why, in words."""
