"""Charts of the pages: Vega-Lite specifications made of what the API answers."""
