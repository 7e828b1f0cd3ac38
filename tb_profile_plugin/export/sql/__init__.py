"""SQL over the tables of a capture, in a process that may do nothing else."""
