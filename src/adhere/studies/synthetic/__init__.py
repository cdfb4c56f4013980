"""Reproduce Figure 2 and Example 1: all policies on rich and poor patients, and on defiers."""
