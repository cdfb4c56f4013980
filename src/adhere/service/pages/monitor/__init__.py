"""The monitor of a trial: its page, its charts, and the stream that notifies open pages of changes."""
