"""How an evaluation of designs is shown: on a terminal, as a page, as figures."""
