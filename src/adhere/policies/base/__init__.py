"""Definition of a policy: its value, parameters, text, compiled form and generic functions."""
