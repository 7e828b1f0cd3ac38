"""What to know before trusting a capture: what it lacks, what cannot be, how to record it better."""
