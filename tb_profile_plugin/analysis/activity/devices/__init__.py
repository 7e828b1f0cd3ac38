"""Why devices are idle, and what would make a step shorter: figures only, no sentences."""
