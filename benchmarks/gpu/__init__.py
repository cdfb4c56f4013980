"""How fast adhere is on a GPU."""
