"""Which events of a host are steps, and when the work of each is done."""
