"""Reproduce the paper's figures and claims, with one folder per study.

The module `study` of a folder defines what to simulate, the tables of results (also saved as data files), the facts
looked up in them, and the charts and tables of the page. `words.txt` is a template over the facts: it contains the
page's sentences, claims and captions. A line in `catalogue` adds a `STUDY` to the report; a test requires that the
help of `adhere reproduce` names it too. `framework` runs studies and writes the report; `lineup` contains what the
paper's simulations share.
"""
