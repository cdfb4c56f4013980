"""The pages of a site: recommendations, their reports, and the list of awaited reports."""
