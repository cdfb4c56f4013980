"""Effects under other assumptions on missing outcomes than the one that the analysis makes, and signs against it."""
