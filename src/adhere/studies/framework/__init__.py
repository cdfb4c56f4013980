"""The framework of studies: their definition, how they run, and how the report is written into its folder."""
