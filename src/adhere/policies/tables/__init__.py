"""Precomputed tables: Gittins indices and Bayes-optimal decisions."""
