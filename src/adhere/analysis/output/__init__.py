"""Output of an analysis: text, HTML page, figures and JSON."""
