"""What a user computes, pinned: simulations, live trials, the data of `adhere reproduce`, analyses and evaluations.

Arms and other values that are exact must be the same, and numbers the same but for rounding: see `digests`.
"""
