"""What a study is, how studies run, and how the report gets into its folder."""
