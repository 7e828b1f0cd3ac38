"""A session reduced to what comparisons need."""
