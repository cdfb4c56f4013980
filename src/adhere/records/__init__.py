"""Tables of records, from files and frames: which columns they have, and what is in them, column by column."""
