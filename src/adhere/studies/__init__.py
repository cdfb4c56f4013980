"""Studies: the paper's figures and claims, one folder each.

A study's folder has `experiments` (what to simulate), `tables` (made of the results and kept as data files), `facts`
(the tables, looked up by name), `claims` and `figures` (made of the facts), each where it has content. Its `__init__`
binds them into a `STUDY`, which a line in `catalogue` adds to the report (and a word to the help of `adhere
reproduce`, which a test asks for). `framework` runs studies and writes the report; `lineup` is what the paper's
simulation studies share.
"""
