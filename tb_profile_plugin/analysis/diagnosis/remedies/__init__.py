"""What to do about a cause, in which words, and with which code."""
