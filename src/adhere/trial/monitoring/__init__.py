"""Monitor a running trial as a statistician watches it, kept up to date with its log. The monitor needs
adhere-client.
"""
