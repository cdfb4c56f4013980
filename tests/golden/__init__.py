"""What a user computes, pinned: simulations, live trials and the data of `adhere reproduce`, as they were at 0.1.0.

The values were written by `generate.py` on x86-64 Linux. Their last bits may depend on the processor and on its
mathematical library (`log`, `exp`), so another kind of machine may need goldens of its own.
"""
