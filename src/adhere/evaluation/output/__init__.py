"""Output of an evaluation of designs: text, HTML page and figures."""
