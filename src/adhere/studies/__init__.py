"""Studies: the paper's figures and claims, one folder each.

A study's folder has `study` (what to simulate, the tables made of the results and kept as data files, the facts
looked up in them, charts and tables of the page) and `words.txt` (its sentences, claims and captions, a template over
the facts). A line in `catalogue` adds its `STUDY` to the report (and a word to the help of `adhere reproduce`, which
a test asks for). `framework` runs studies and writes the report; `lineup` has what the paper's simulations share.
"""
