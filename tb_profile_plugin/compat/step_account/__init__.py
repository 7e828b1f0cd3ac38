"""A step as the existing plugin accounts for it: its parts, its thresholds and its table of steps."""
