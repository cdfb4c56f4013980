"""Analyse ten synthetic trials like a user's tables. Check every confidence set and sentence that is printed."""
