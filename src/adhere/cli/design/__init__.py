"""`adhere design`: one module for each command on designs."""
