"""What the columns mean: hosts, events side by side, steps, devices, names of operations."""
