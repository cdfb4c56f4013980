"""Results of a simulation: values, tables, files and plots."""
