"""What names tell: of ops, kernels, collectives, XLA's instructions, and events on the host."""
