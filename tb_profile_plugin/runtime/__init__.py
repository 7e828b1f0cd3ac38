"""How work is run: remembered, shared, bounded, cancelled, spread over executors; knows nothing of profiles."""
