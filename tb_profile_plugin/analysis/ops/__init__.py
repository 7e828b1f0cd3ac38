"""What ops, kernels, copies and memory cost, on the host and on devices."""
