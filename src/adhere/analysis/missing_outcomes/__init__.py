"""Missing outcomes: counts, worst cases, and effects under other assumptions."""
