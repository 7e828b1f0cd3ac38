"""Every route: its path, its parameters and what answers it."""
