"""Options, output files and exit codes that several commands share."""
