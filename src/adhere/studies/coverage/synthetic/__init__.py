"""Analyse ten synthetic trials like a user's tables. Check every set shown and every sentence printed."""
