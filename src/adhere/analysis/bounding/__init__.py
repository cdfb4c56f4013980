"""Bounds that assume nothing about who complies, and worst-case bounds for missing outcomes."""
