"""What can be said without assuming who complies, or what is missing: bounds and worst-case bounds."""
