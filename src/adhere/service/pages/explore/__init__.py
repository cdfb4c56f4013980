"""The page Explore, which illustrates the paper's idea, and its charts."""
