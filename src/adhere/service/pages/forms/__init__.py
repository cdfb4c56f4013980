"""Forms: what was typed, as the fields of the API's requests."""
