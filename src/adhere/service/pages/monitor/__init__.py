"""The monitor of a trial: its page, its charts, and the stream that tells open pages of changes."""
