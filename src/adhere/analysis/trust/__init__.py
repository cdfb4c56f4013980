"""Judgement, in words, of which view can be trusted here, and why."""
