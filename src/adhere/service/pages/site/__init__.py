"""The pages of a site: a recommendation, what is reported of it, what waits."""
