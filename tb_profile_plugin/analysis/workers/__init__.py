"""Workers of one job: what they exchange, who waits for whom, and why."""
