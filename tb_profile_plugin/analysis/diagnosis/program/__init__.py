"""What a capture shows of its program, as far as remedies depend on it."""
