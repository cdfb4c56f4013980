"""Tables of records from files and frames: finding their columns and reading their cells."""
