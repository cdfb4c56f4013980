"""What a statistician watches of a trial that goes on, kept up to date with its log."""
