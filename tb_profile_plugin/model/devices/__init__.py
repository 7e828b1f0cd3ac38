"""What devices are and can do, and what they recorded of copies and memory."""
