"""Missing outcomes: their number, worst cases, and effects under other assumptions on them."""
