"""A trial that goes on, as a statistician watches it, up to date with its log. The monitor needs adhere-client."""
