"""What a user computes, pinned: simulations, live trials and the data of `adhere reproduce`, as they were at 0.1.0.

Arms and other values that are exact must be the same, and numbers the same but for rounding: see `digests`.
"""
