"""The stroke data itself: who was allocated what, who took what, and who was alive after 14 days."""
