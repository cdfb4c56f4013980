"""Bounds that assume nothing about who complies, and the instrumental inequality."""
