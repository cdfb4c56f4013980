"""Definition of a policy: its value, parameters, text form, compiled form and generic functions."""
