"""The policies that the paper's simulation studies compare, and the tables and figures of them."""
