"""Describe the stroke data: who was allocated which arm, who took which, and who was alive after 14 days."""
