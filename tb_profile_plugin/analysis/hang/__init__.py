"""What the flight recorders of all ranks tell of a hang: where ranks part, who is to blame, and what waits for it."""
