"""An analysis as text, page, figures and JSON."""
