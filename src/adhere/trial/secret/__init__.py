"""The secrets of a trial: keys of its draws, kit codes, and recommendation IDs."""
