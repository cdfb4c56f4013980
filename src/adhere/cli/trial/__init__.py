"""`adhere trial`: one module for each command on live trials."""
