"""The page to explore the paper's idea on, and its charts."""
