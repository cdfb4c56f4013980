"""The command line `adhere`."""
