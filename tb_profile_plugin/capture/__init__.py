"""From a running program to a session on disk: the profiler's gRPC service, and what stands in its way."""
