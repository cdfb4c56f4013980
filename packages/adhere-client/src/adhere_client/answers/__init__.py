"""What the calls return. Every answer is a value that can be compared, printed and turned into JSON."""
